"""What judging may use of the run, for one test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_autodeploy.model.find import ModelFile
from pytest_autodeploy.plugin.collection import case_of
from pytest_autodeploy.plugin.limits import against_path, tolerance_of
from pytest_autodeploy.plugin.state import USES, runtime_of, settings_of
from pytest_autodeploy.settings.meter_choice import board_has_meter

if TYPE_CHECKING:
    from pytest_autodeploy.board.use import BoardUse
    from pytest_autodeploy.diagnosis.sensitivity.sensitivity import Sensitivity
    from pytest_autodeploy.model.graph import Model
    from pytest_autodeploy.power.measure import PowerMeter
    from pytest_autodeploy.reference.runner import Reference
    from pytest_autodeploy.session.measured import RunResult
    from pytest_autodeploy.session.model_session import ModelSession


def session_of(item: pytest.Item) -> ModelSession | None:
    """The session that a test has, if any."""
    from pytest_autodeploy.session.model_session import ModelSession

    session = (getattr(item, "funcargs", None) or {}).get("model_session")
    return session if isinstance(session, ModelSession) else None


def uses_of(item: pytest.Item) -> tuple[BoardUse, ...]:
    """What boards went through in a test, with its earlier attempts, and since the one before."""
    from pytest_autodeploy.board.use import added_up

    before = item.stash.get(USES, ())
    item.stash[USES] = added_up([*before, *runtime_of(item.config).boards.uses()])
    return item.stash[USES]


class Services:
    """What judging may use of the run."""

    def __init__(self, item: pytest.Item) -> None:
        self._item = item
        self._runtime = runtime_of(item.config)

    def reference(self, model: Model, kernels: str = "auto") -> Reference:
        """The PC side of a model; ``kernels`` pins one path."""
        return self._runtime.pc.reference(model, kernels)

    def power_meter(self) -> PowerMeter | None:
        """The power meter of the test's board, None when there is none."""
        case = case_of(self._item)
        board = case.board if case else None
        if not board_has_meter(board or "", settings_of(self._item.config)):
            return None
        return self._runtime.boards.meters.power_meter(None)

    def other_model(self, path: str, origin: str) -> Model:
        """The model that an accuracy limit names for the PC. Raises ModelError."""
        file = against_path(self._item, path, origin)
        return self._runtime.models.load(ModelFile(file.stem, file))

    @property
    def wants_sensitivity(self) -> bool:
        """Whether the run was asked what inputs would notice."""
        return self._runtime.settings.sensitivity

    def sensitivity(self, run: RunResult) -> Sensitivity:
        """What the inputs of a run would notice. Raises MissingExtra and ReferenceFailed."""
        session = session_of(self._item)
        assert session is not None
        return self._runtime.sensing.answer(session.model, run, tolerance_of(self._item))

    def known_sensitivity(self, run: RunResult) -> Sensitivity | None:
        """The same, if it is known already."""
        session = session_of(self._item)
        assert session is not None
        return self._runtime.sensing.known(session.model, run, tolerance_of(self._item))
