"""The data of a run: the inputs that it gives each model, and their labels."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_autodeploy.catalog.kinds import kind_of

if TYPE_CHECKING:
    from pytest_autodeploy.board.base import Board
    from pytest_autodeploy.model.graph import Model
    from pytest_autodeploy.reference.inputs import Inputs
    from pytest_autodeploy.reference.labels import Labels
    from pytest_autodeploy.run.input_search import Searching
    from pytest_autodeploy.settings.settings import Settings


class RunData:
    """Reads or makes inputs, and reads labels, once."""

    def __init__(self, settings: Settings, searching: Searching) -> None:
        self._settings = settings
        self._searching = searching
        self._inputs: dict[str, Inputs] = {}
        self._labels: Labels | None = None

    def inputs(self, model: Model) -> Inputs:
        """The inputs that this run gives the model. Raises InputsError; of a search more."""
        if model.sha256 not in self._inputs:
            self._inputs[model.sha256] = self._made(model)
        return self._inputs[model.sha256]

    def _made(self, model: Model) -> Inputs:
        from pytest_autodeploy.reference.inputs import load_inputs, random_inputs

        path = self._settings.inputs_path
        given = load_inputs(path, model) if path else None
        if self._settings.search_inputs:
            return self._searching.inputs(model, given)
        return given or random_inputs(model, self._settings.runs, self._settings.seed)

    def board_inputs(self, model: Model, board: Board) -> Inputs:
        """The inputs of the run; fewer random ones, of the same, on a slow kind."""
        inputs = self.inputs(model)
        files = self._settings.inputs_path is not None and not self._settings.search_inputs
        chosen = files or "runs" in self._settings.sources
        runs = None if chosen else kind_of(board.id).random_runs
        return replace(inputs, arrays=tuple(array[:runs] for array in inputs.arrays))

    def labels(self) -> Labels | None:
        """The labels of ``--tflite-labels``, read once. Raises InputsError."""
        from pytest_autodeploy.reference.labels import load_labels

        if self._labels is None and self._settings.labels:
            self._labels = load_labels(self._settings.root / self._settings.labels)
        return self._labels
