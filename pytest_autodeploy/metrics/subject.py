"""What is judged: a test's model on its board or accelerator, and what judging may use."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from pytest_autodeploy.base.errors import AutodeployError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_autodeploy.diagnosis.sensitivity.sensitivity import Sensitivity
    from pytest_autodeploy.limits.energy import Mode
    from pytest_autodeploy.limits.tolerance import Tolerance
    from pytest_autodeploy.metrics.accuracy.compare import TaskComparison
    from pytest_autodeploy.metrics.comparison import Comparison
    from pytest_autodeploy.model.graph import Model
    from pytest_autodeploy.npu.results import Estimate
    from pytest_autodeploy.power.measure import PowerMeter
    from pytest_autodeploy.reference.agreement import Agreement
    from pytest_autodeploy.reference.runner import Reference
    from pytest_autodeploy.session.energy import Energy
    from pytest_autodeploy.session.measured import RunResult
    from pytest_autodeploy.session.model_session import ModelSession
    from pytest_autodeploy.session.over_pins import PinsRun


class NotJudged(AutodeployError):
    """A limit cannot be judged, and why; the hint says what to do."""


class Services(Protocol):
    """What the run has for judging; each thing is made when it is asked for."""

    def reference(self, model: Model, kernels: str = "auto") -> Reference:
        """The PC side of a model; ``kernels`` pins one path."""

    def power_meter(self) -> PowerMeter | None:
        """The power meter of the test's board, None when there is none."""

    def other_model(self, path: str, origin: str) -> Model:
        """The model that an accuracy limit names for the PC. Raises ModelError."""

    @property
    def wants_sensitivity(self) -> bool:
        """Whether the run was asked what inputs would notice."""

    def sensitivity(self, run: RunResult) -> Sensitivity:
        """What the inputs of a run on the test's board would notice.

        Raises MissingExtra and ReferenceFailed.
        """

    def known_sensitivity(self, run: RunResult) -> Sensitivity | None:
        """The same, if it is known already."""


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
class Evidence:
    """The comparisons that verdicts rest on, for reports; ``tolerance`` is that of the agreement.

    Of several agreements one that failed counts, else the first.
    """

    agreement: Agreement | None = None
    tolerance: Tolerance | None = None
    accuracy: TaskComparison | None = None
    sensitivity: Sensitivity | None = None
    comparison: Comparison | None = None


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
