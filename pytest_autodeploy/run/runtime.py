"""What lives as long as the run: loaded models, PC references, boards, and what has broken."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_autodeploy.base.errors import AutodeployError, InputsError
from pytest_autodeploy.base.scratch import Scratch
from pytest_autodeploy.catalog.kinds import kind_of
from pytest_autodeploy.model.find import ModelFile
from pytest_autodeploy.run.preflight import npu_arguments
from pytest_autodeploy.run.trouble import Troubles
from pytest_autodeploy.settings.overrides import SESSION, SESSION_OPTIONS, checked

if TYPE_CHECKING:
    from pytest_autodeploy.base.progress import Progress
    from pytest_autodeploy.board.base import Board
    from pytest_autodeploy.model.graph import Model
    from pytest_autodeploy.npu.results import Estimate
    from pytest_autodeploy.power.choose import Meters
    from pytest_autodeploy.reference.inputs import Inputs
    from pytest_autodeploy.reference.labels import Labels
    from pytest_autodeploy.reference.runner import Reference
    from pytest_autodeploy.session.model_session import ModelSession
    from pytest_autodeploy.settings.settings import Settings


@contextmanager
def naming(fixture: str) -> Iterator[None]:
    """Let errors about inputs name the fixture that gave them."""
    try:
        yield
    except InputsError as error:
        raise InputsError(f"{fixture}: {error.what}", hint=error.hint) from None


class Runtime:
    """Caches and owns everything that outlives one test; ``close`` releases it all."""

    def __init__(self, settings: Settings, progress: Progress) -> None:
        self.settings = settings
        self._progress = progress
        self._models: dict[Path, Model | AutodeployError] = {}
        self._tried: dict[str, AutodeployError | None] = {}
        self._inputs: dict[str, Inputs] = {}
        self._labels: Labels | None = None
        self._references: dict[tuple[str, tuple[str, ...]], Reference] = {}
        self._boards: dict[tuple[str, str], Board] = {}
        self.troubles = Troubles()
        self._meters: Meters | None = None
        self._folder: Scratch | None = None

    def model(self, file: ModelFile) -> Model:
        """Load (or convert) a model, once, and check what of it TFLM can run. Raises ModelError."""
        from pytest_autodeploy.model.load import check_runnable

        model = self.static_model(file)
        check_runnable(model)
        self._try(model)
        return model

    def _try(self, model: Model) -> None:
        """Let TFLM on this PC try the model, once. Raises ModelError when it refuses it."""
        from pytest_autodeploy.reference.trial import check_on_pc

        if model.sha256 not in self._tried:
            try:
                check_on_pc(model)
                self._tried[model.sha256] = None
            except AutodeployError as error:
                self._tried[model.sha256] = error
        if refusal := self._tried[model.sha256]:
            raise refusal

    def static_model(self, file: ModelFile) -> Model:
        """Load (or convert) a model, once. Raises ModelError."""
        if file.path not in self._models:
            try:
                self._models[file.path] = self._load(file.path)
            except AutodeployError as error:
                self._models[file.path] = error
        model = self._models[file.path]
        if isinstance(model, AutodeployError):
            raise model
        return model

    def _load(self, path: Path) -> Model:
        from pytest_autodeploy.model.convert import is_convertible
        from pytest_autodeploy.model.load import load_model

        if not is_convertible(path):
            return load_model(path)
        from pytest_autodeploy.model.conversion import load_converted

        return load_converted(path, self.inputs_path, self.settings.output_path)

    @property
    def inputs_path(self) -> Path | None:
        """The file of ``--tflite-inputs``; a relative one starts at the start folder."""
        return self.settings.root / self.settings.inputs if self.settings.inputs else None

    def inputs(self, model: Model) -> Inputs:
        """The inputs that this run gives the model. Raises InputsError."""
        from pytest_autodeploy.reference.inputs import load_inputs, random_inputs

        if model.sha256 not in self._inputs:
            path = self.inputs_path
            self._inputs[model.sha256] = (
                load_inputs(path, model)
                if path
                else random_inputs(model, self.settings.runs, self.settings.seed)
            )
        return self._inputs[model.sha256]

    def labels(self) -> Labels | None:
        """The labels of ``--tflite-labels``, read once. Raises InputsError."""
        from pytest_autodeploy.reference.labels import load_labels

        if self._labels is None and self.settings.labels:
            self._labels = load_labels(self.settings.root / self.settings.labels)
        return self._labels

    def _board_inputs(self, model: Model, board: Board) -> Inputs:
        """The inputs of the run; fewer random ones, of the same, on a slow kind."""
        inputs = self.inputs(model)
        chosen = self.inputs_path is not None or "runs" in self.settings.sources
        runs = None if chosen else kind_of(board.id).random_runs
        return replace(inputs, arrays=tuple(array[:runs] for array in inputs.arrays))

    def reference(self, model: Model, kernels: str = "auto") -> Reference:
        """The PC side of a model; ``kernels`` pins one path, "auto" is what the settings say."""
        from pytest_autodeploy.base.kernel_paths import LITERT_PATHS
        from pytest_autodeploy.reference.runner import Reference

        kernels = self.settings.reference if kernels == "auto" else kernels
        paths = LITERT_PATHS if kernels == "auto" else (kernels,)
        key = (model.sha256, paths)
        if key not in self._references:
            self._references[key] = Reference(model, paths=paths)
        return self._references[key]

    def board(self, board_id: str, options: Mapping[str, Any] | None = None) -> Board:
        """The board of that id, not started; ``options`` are those of the fixture ``evb_options``.

        Raises SettingError, OverrideError.
        """
        from pytest_autodeploy.board.select import board_options, make_board

        chosen = board_options(board_id, {} if options is None else options)
        key = (board_id, repr(chosen))
        if key not in self._boards:
            self._boards[key] = make_board(board_id, self.settings, self.build_cache(), chosen)
        return self._boards[key]

    def build_cache(self) -> Path | None:
        """The folder of built firmware: the user's (None), a given one, or one for this run."""
        if self.settings.cache is None:
            return None
        if self.settings.cache == "off" and self._folder is None:
            self._folder = Scratch("build")
        if self._folder is not None:
            return self._folder.path
        return self.settings.root / self.settings.cache

    @property
    def meters(self) -> Meters:
        """The power meters of the run."""
        from pytest_autodeploy.power.choose import Meters

        if self._meters is None:
            self._meters = Meters(self.settings)
        return self._meters

    def session(self, model: Model, board: Board) -> ModelSession:
        """The session of a model on a board; nothing is flashed yet."""
        from pytest_autodeploy.session.model_session import ModelSession

        inputs = self._board_inputs(model, board)
        return ModelSession(model, board, inputs=inputs, progress=self._progress)

    def prepare(
        self, session: ModelSession, inputs: Any, options: Mapping[str, Any], labels: Any = None
    ) -> None:
        """Set what a test's file may override; ``inputs`` and ``labels`` None are the run's own.

        Raises InputsError and OverrideError, which name the fixture.
        """
        from pytest_autodeploy.profile.passes import CounterChoice
        from pytest_autodeploy.reference.inputs import as_inputs
        from pytest_autodeploy.reference.labels import as_labels

        settings = self.settings
        defaults: dict[str, Any] = {
            "arena_bytes": 1024 * settings.evb_arena_kb,
            "clock": settings.evb_clock,
            "latency_runs": self._latency_runs(session.board),
            "state": settings.state,
        }
        chosen_options = defaults | checked(SESSION, options, SESSION_OPTIONS)
        own = self._board_inputs(session.model, session.board)
        with naming("model_inputs"):
            chosen = own if inputs is None else as_inputs(inputs, session.model, settings.seed)
        with naming("model_labels"):
            labelled = self.labels() if labels is None else as_labels(labels)
        counters = CounterChoice(settings.evb_counters, settings.evb_dwt_counters == "modulo")
        session.prepare(chosen, labels=labelled, counters=counters, **chosen_options)

    def estimate(self, model: Model, accelerator: str) -> Estimate:
        """What Vela estimates of the model.

        Raises NpuEstimateFailed, NpuConfigError, and MissingExtra without Vela.
        """
        from pytest_autodeploy.npu.cache import default_folder
        from pytest_autodeploy.npu.estimate import estimate

        cache = self.settings.cache_path(default_folder) or False
        return estimate(model, accelerator, cache=cache, **npu_arguments(self.settings))

    def _latency_runs(self, board: Board) -> int:
        """Timed inferences; one is enough where times are always the same."""
        exact = kind_of(board.id).exact and "latency_runs" not in self.settings.sources
        return 1 if exact else self.settings.latency_runs

    def close(self) -> None:
        """Release meters, boards, ports, locks and processes."""
        if self._meters is not None:
            self._meters.close()
        for board in self._boards.values():
            board.close()
        for reference in self._references.values():
            reference.close()
        if self._folder is not None:
            self._folder.close()
