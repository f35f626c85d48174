"""The case that is explained: a run, how it was judged, and the inferences that are run again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_autodeploy.diagnosis.chosen import Chosen
    from pytest_autodeploy.diagnosis.pc import PcSides
    from pytest_autodeploy.limits.tolerance import Tolerance
    from pytest_autodeploy.model.graph import Model
    from pytest_autodeploy.reference.agreement import Agreement
    from pytest_autodeploy.reference.runner import Outputs
    from pytest_autodeploy.session.measured import RunResult
    from pytest_autodeploy.session.model_session import ModelSession


@dataclass(frozen=True)
class Case:
    """A ``run`` of the session, and what the PC gave ``by_side`` for its ``chosen`` inferences."""

    session: ModelSession
    run: RunResult
    agreement: Agreement
    tolerance: Tolerance
    chosen: Chosen
    pc: PcSides
    by_side: Outputs

    @property
    def model(self) -> Model:
        """The model on the board."""
        return self.session.model

    @property
    def carries(self) -> bool:
        """Whether state goes from one inference of the run to the next."""
        return self.model.stateful and not self.run.reset_each
