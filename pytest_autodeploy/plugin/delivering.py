"""The built-in tests that make artifacts: what they make, and what is told of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_autodeploy.plugin.collection import case_of
from pytest_autodeploy.plugin.limits import tolerance_of
from pytest_autodeploy.plugin.state import ARTIFACTS, runtime_of, settings_of
from pytest_autodeploy.plugin.subject import reference_of

if TYPE_CHECKING:
    from pytest_autodeploy.board.base import Board
    from pytest_autodeploy.deliver.characterization import Characterization
    from pytest_autodeploy.deliver.delivery import Delivery
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
        from pytest_autodeploy.metrics.records.artifacts import ArtifactsRecord, OmissionRecord

        tolerance = tolerance_of(self._item)
        try:
            found = characterize(session, reference_of(self._item, session.model), tolerance)
        except OutputsDiffer as error:
            omission = OmissionRecord("all artifacts", error.what)
            self._item.stash[ARTIFACTS] = ArtifactsRecord(left_out=(omission,))
            return
        self._make(session.model, session.board, found)

    def make_from_files(self, model: Model, board: Board) -> None:
        """Make the artifacts for a board from the characterisation of another one.

        Raises CharacterizationError when the files are not those of the model, or unusable, and
        ModelDoesNotFit when the memories of this board are too small.
        """
        from pytest_autodeploy.deliver.files import load

        folder = self._settings.artifacts_from_path
        assert folder is not None
        self._make(model, board, load(folder, model))

    def _make(self, model: Model, board: Board, found: Characterization) -> None:
        from pytest_autodeploy.board.makers import build_options
        from pytest_autodeploy.deliver.generate import generate
        from pytest_autodeploy.run.artifacts import artifacts_record

        options = build_options(self._settings, runtime_of(self._item.config).boards.build_cache())
        folder = self._folder()
        delivery = generate(
            model,
            board.spec,
            self._settings.output_path / folder,
            self._settings.artifacts_to_make,
            found,
            options,
        )
        self._item.stash[ARTIFACTS] = artifacts_record(delivery, found, folder.as_posix())
        if not delivery.passed:
            pytest.fail(_words(delivery), pytrace=False)
        if missing := delivery.not_made(self._settings.artifacts_owed):
            pytest.fail(missing, pytrace=False)

    def _folder(self) -> Path:
        from pytest_autodeploy.report.results import result_folder

        case = case_of(self._item)
        assert case is not None
        clock = "LP" if self._settings.evb_clock == "LP" else ""
        return Path(result_folder(*case.key, clock))


def _words(delivery: Delivery) -> str:
    """Why the test of a delivery fails whose example found other outputs."""
    assert delivery.example is not None
    return (
        f"{delivery.model} on {delivery.board}: the generated example ended with status "
        f"{delivery.example.status}\n{delivery.example.output}"
    )
