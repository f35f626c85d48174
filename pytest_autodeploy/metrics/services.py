"""What judging may use of the run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pytest_autodeploy.diagnosis.sensitivity.sensitivity import Sensitivity
    from pytest_autodeploy.model.graph import Model
    from pytest_autodeploy.power.measure import PowerMeter
    from pytest_autodeploy.reference.runner import Reference
    from pytest_autodeploy.session.measured import RunResult


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
