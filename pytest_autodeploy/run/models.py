"""The models of a run: each loaded or converted once, and tried once by TFLM on this PC."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_autodeploy.base.errors import AutodeployError
from pytest_autodeploy.catalog.kinds import kind_of
from pytest_autodeploy.model.find import ModelFile, find_models, named

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_autodeploy.model.graph import Model
    from pytest_autodeploy.reference.child import Spares
    from pytest_autodeploy.settings.settings import Settings


class Models:
    """Loads models, and remembers also the errors of those that are no good.

    ``spares`` gives the children that may try them.
    """

    def __init__(
        self, settings: Settings, spares: Callable[[], Spares | None] = lambda: None
    ) -> None:
        self._settings = settings
        self._spares = spares
        self._loaded: dict[Path, Model | AutodeployError] = {}
        self._tried: dict[str, AutodeployError | None] = {}

    def runnable(self, file: ModelFile, board_id: str) -> Model:
        """Load (or convert) a model, once, and check that TFLM can run it. Raises ModelError.

        TFLM on this PC tries it, but for a board that runs the same kernels: nothing is built or
        flashed for it, so that only its refusal is worth a trial (`try_on_pc`).
        """
        from pytest_autodeploy.model.load import check_runnable

        model = self.load(file)
        check_runnable(model)
        if not kind_of(board_id).pc_kernels:
            self.try_on_pc(model)
        return model

    def first_runnable(self, board_id: str) -> Model:
        """The first model of the settings, by its name there, as ``runnable`` gives it."""
        settings = self._settings
        (file,) = named(find_models(settings.tflite, settings.root)[:1], settings.name)
        return self.runnable(file, board_id)

    def load(self, file: ModelFile) -> Model:
        """Load (or convert) a model, once. Raises ModelError."""
        if file.missing is not None:
            raise file.missing.with_traceback(None)
        if file.path not in self._loaded:
            try:
                loaded = self._load(file.path)
                self._loaded[file.path] = replace(loaded, name=file.name or loaded.name)
            except AutodeployError as error:
                self._loaded[file.path] = error
        model = self._loaded[file.path]
        if isinstance(model, AutodeployError):
            raise model
        return model

    def _load(self, path: Path) -> Model:
        from pytest_autodeploy.model.convert import is_convertible
        from pytest_autodeploy.model.load import load_model

        if not is_convertible(path):
            return load_model(path)
        from pytest_autodeploy.model.conversion import load_converted

        return load_converted(path, self._settings.inputs_path, self._settings.output_path)

    def try_on_pc(self, model: Model) -> None:
        """Let TFLM on this PC try the model, once. Raises ModelError when it refuses it."""
        from pytest_autodeploy.reference.trial import check_on_pc

        if model.sha256 not in self._tried:
            try:
                check_on_pc(model, spares=self._spares())
                self._tried[model.sha256] = None
            except AutodeployError as error:
                self._tried[model.sha256] = error
        if refusal := self._tried[model.sha256]:
            raise refusal
