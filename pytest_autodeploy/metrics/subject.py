"""What is judged: a test's model on its board or accelerator, and what judging may use."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_autodeploy.base.errors import AutodeployError
from pytest_autodeploy.metrics.evidence import Evidence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_autodeploy.limits.energy import Mode
    from pytest_autodeploy.metrics.services import Services
    from pytest_autodeploy.npu.results import Estimate
    from pytest_autodeploy.session.energy import Energy
    from pytest_autodeploy.session.model_session import ModelSession
    from pytest_autodeploy.session.over_pins import PinsRun


class NotJudged(AutodeployError):
    """A limit cannot be judged, and why; the hint says what to do."""


@dataclass(frozen=True)
class Baselines:
    """Where the baseline of a test is, and how it is used.

    ``folder`` has the baselines, ``root`` is where the paths of models start. ``compare``: a
    missing baseline is red. ``update`` is ``all``, ``new`` or None. ``owed`` are the groups that
    the test has to judge when they are named in an option or the ini file. A baseline is made of
    ``baseline_runs`` starts of the board, a comparison of ``compare_runs``; nothing more is begun
    to be measured after ``seconds``.
    """

    folder: Path
    root: Path
    model_id: str
    model_file: str
    compare: bool = False
    update: str | None = None
    owed: frozenset[str] = frozenset()
    baseline_runs: int = 1
    compare_runs: int = 1
    seconds: float = 30.0


@dataclass
class Subject:
    """A model on a board (``session``), or on an accelerator (``estimate``), in a test.

    ``over_pins``: on a board without RPC.
    """

    services: Services
    session: ModelSession | None = None
    estimate: Estimate | None = None
    baselines: Baselines | None = None
    evidence: Evidence = field(default_factory=Evidence)
    over_pins: PinsRun | None = None
    notes: dict[str, Any] = field(default_factory=dict)
    """What metrics have found out for this test, by names of their own."""

    @property
    def energies(self) -> Mapping[Mode, Energy]:
        """What was measured with a power meter, by clock mode."""
        if self.over_pins is not None:
            return self.over_pins.energies
        return self.session.measured.power if self.session else {}

    @property
    def board(self) -> ModelSession:
        """The model on its board. Raises NotJudged in a test without one."""
        if self.session is None:
            raise NotJudged(
                "the test has no model on a board",
                hint="add the fixture model_session to the test's arguments",
            )
        return self.session

    def complete(self) -> ModelSession:
        """The model on its board, where a model of time knows all operators.

        Raises NotJudged: a figure that leaves something out cannot be within a limit.
        """
        if left_out := self.board.incomplete:
            raise NotJudged(
                f"the figure leaves out {', '.join(left_out)}, whose cost is not modelled",
                hint="measure on a board of another kind, such as qemu: or hardware",
            )
        return self.board

    @property
    def title(self) -> str:
        """Model and board, or accelerator, as failures name them."""
        if self.session is not None:
            return f"{self.session.model.name} on {self.session.board.id}"
        if self.over_pins is not None:
            return f"{self.over_pins.model.name} on {self.over_pins.board_id}"
        if self.estimate is not None:
            return f"{self.estimate.model} on {self.estimate.accelerator}"
        return "the model"
