"""A model on a board beside the PC's side of it, opened without pytest."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from pytest_autodeploy.model.find import find_models
from pytest_autodeploy.run.preflight import check_settings
from pytest_autodeploy.run.runtime import Runtime

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_autodeploy.base.progress import Progress
    from pytest_autodeploy.board.base import Board
    from pytest_autodeploy.deliver.characterization import Characterization
    from pytest_autodeploy.deliver.delivery import Delivery
    from pytest_autodeploy.diagnosis.explanation import Explanation
    from pytest_autodeploy.limits.tolerance import Tolerance
    from pytest_autodeploy.model.graph import Model
    from pytest_autodeploy.reference.agreement import Agreement
    from pytest_autodeploy.session.model_session import ModelSession
    from pytest_autodeploy.settings.settings import Settings


@dataclass(frozen=True)
class Bench:
    """A model and a board; the board is powered when ``session`` is used first."""

    model: Model
    board: Board
    runtime: Runtime

    @cached_property
    def session(self) -> ModelSession:
        """The session of the model on the board, set up as the settings say."""
        session = self.runtime.session(self.model, self.board)
        self.runtime.prepare(session, None, {})
        self.board.start()
        return session

    def compare(self, tolerance: Tolerance) -> tuple[Agreement, Explanation]:
        """Run the session's inputs on both sides: how far they agree, and why they do not.

        Raises BoardError, ReferenceFailed, ModelError.
        """
        from pytest_autodeploy.diagnosis.explain import explain
        from pytest_autodeploy.reference.compare import compare

        run = self.session.run()
        reference = self.runtime.reference(self.model)
        by_path = reference.run(run.inputs, reset_each=run.reset_each)
        failed = reference.failed_paths
        agreement = compare(self.model, run.outputs, by_path, tolerance, failed_paths=failed)
        return agreement, explain(self.session, run, agreement, tolerance)

    def characterization(self, tolerance: Tolerance) -> Characterization:
        """The one that the settings name, which touches no board, or that of the model on this one.

        Raises DeliveryError, BoardError.
        """
        from pytest_autodeploy.deliver.characterize import characterize
        from pytest_autodeploy.deliver.files import load

        folder = self.runtime.settings.artifacts_from_path
        if folder:
            return load(folder, self.model)
        return characterize(self.session, self.runtime.reference(self.model), tolerance)

    def deliver(self, characterization: Characterization, out: Path) -> Delivery:
        """Make the artifacts that the settings name for the board. Raises as ``generate``."""
        from pytest_autodeploy.board.makers import build_options
        from pytest_autodeploy.deliver.generate import generate

        settings = self.runtime.settings
        options = build_options(settings, self.runtime.build_cache())
        spec = self.board.spec
        return generate(self.model, spec, out, settings.artifacts, characterization, options)


@contextmanager
def open_bench(settings: Settings, progress: Progress) -> Iterator[Bench]:
    """A bench for the first model and the first board of the settings.

    Boards, ports, locks and processes are released at the end. Raises SettingError and ModelError
    before any board is touched.
    """
    check_settings(settings, write=False)
    runtime = Runtime(settings, progress)
    try:
        model = runtime.model(find_models(settings.tflite, settings.root)[0])
        yield Bench(model, runtime.board(settings.evb[0]), runtime)
    finally:
        runtime.close()
