"""The built-in tests that make artifacts: what they make, and what is told of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_autodeploy.plugin.limits import tolerance_of
from pytest_autodeploy.plugin.state import ARTIFACTS, runtime_of, settings_of
from pytest_autodeploy.plugin.subject import reference_of

if TYPE_CHECKING:
    from pytest_autodeploy.board.base import Board
    from pytest_autodeploy.deliver.characterization import Characterization
    from pytest_autodeploy.model.graph import Model
    from pytest_autodeploy.session.model_session import ModelSession


class Artifacts:
    """Makes the artifacts of the model and board of a test; its record gets what was made."""

    def __init__(self, item: pytest.Item) -> None:
        self._item = item
        self._settings = settings_of(item.config)

    def make(self, session: ModelSession) -> None:
        """Characterise the session's model and make the artifacts.

        Nothing is made when outputs are not within the test's tolerance, which fails the test as
        any other, nor when the model has what C cannot hold. Raises DeliveryError, BoardError.
        """
        from pytest_autodeploy.deliver.characterize import characterize
        from pytest_autodeploy.deliver.errors import OutputsDiffer
        from pytest_autodeploy.run.artifacts import nothing_made

        tolerance = tolerance_of(self._item)
        try:
            reference = reference_of(self._item, session.model)
            found = characterize(session, reference, tolerance, probe=True)
        except OutputsDiffer as error:
            self._item.stash[ARTIFACTS] = nothing_made(error.what)
            return
        self._make(session.model, session.board, found)

    def make_from_files(self, model: Model, board: Board) -> None:
        """Make the artifacts for a board from the characterisation of another one.

        Raises CharacterizationError when the files are not those of the model, or unusable, and
        ModelDoesNotFit when the memories of this board are too small.
        """
        from pytest_autodeploy.run.delivery import earlier_characterization

        found = earlier_characterization(self._settings, model)
        assert found is not None
        self._make(model, board, found)

    def _make(self, model: Model, board: Board, found: Characterization) -> None:
        from pytest_autodeploy.plugin.places import result_place
        from pytest_autodeploy.run.artifacts import artifacts_record
        from pytest_autodeploy.run.delivery import deliver

        place = result_place(self._item)
        folder = self._settings.output_path / place
        delivery = deliver(runtime_of(self._item.config), model, board.spec, found, folder)
        self._item.stash[ARTIFACTS] = artifacts_record(delivery, found, place.as_posix())
        if not delivery.passed:
            pytest.fail(delivery.mismatch, pytrace=False)
        if missing := delivery.not_made(self._settings.artifacts_owed):
            pytest.fail(missing, pytrace=False)
