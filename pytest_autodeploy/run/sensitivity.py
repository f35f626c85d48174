"""What the inputs of this run would notice: worked out once, and kept beyond the run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_autodeploy.base.errors import AutodeployError

if TYPE_CHECKING:
    from pytest_autodeploy.base.progress import Progress
    from pytest_autodeploy.diagnosis.sensitivity.kept import Kept
    from pytest_autodeploy.diagnosis.sensitivity.sensitivity import Sensitivity
    from pytest_autodeploy.limits.tolerance import Tolerance
    from pytest_autodeploy.model.graph import Model
    from pytest_autodeploy.run.pc import PcSide
    from pytest_autodeploy.session.measured import RunResult
    from pytest_autodeploy.settings.settings import Settings


class Sensing:
    """Answers for the runs of models; nothing is loaded before the first question."""

    def __init__(self, settings: Settings, pc: PcSide, progress: Progress) -> None:
        self._settings = settings
        self._pc = pc
        self._progress = progress
        self._answers: dict[str, Sensitivity] = {}

    def known(self, model: Model, run: RunResult, tolerance: Tolerance) -> Sensitivity | None:
        """The answer that is kept, or None; costs next to nothing where none ever was."""
        kept = self._kept()
        if not self._answers and (kept is None or kept.empty):
            return None
        try:
            return self._found(self._key(model, run, tolerance), kept)
        except AutodeployError:  # nobody has asked
            return None

    def answer(self, model: Model, run: RunResult, tolerance: Tolerance) -> Sensitivity:
        """The answer, worked out when it is not kept; kept when it is complete.

        Raises MissingExtra without TFLM, and ReferenceFailed when the PC cannot run the model.
        """
        from pytest_autodeploy.diagnosis.sensitivity.measure import sensitivity

        key, kept = self._key(model, run, tolerance), self._kept()
        if found := self._found(key, kept):
            return found
        by_path = self._pc.reference(model, tolerance.reference).run(
            run.inputs, reset_each=run.reset_each
        )
        found = sensitivity(
            model,
            run.inputs,
            by_path,
            tolerance,
            reset_each=run.reset_each,
            seconds=self._settings.sensitivity_time,
            progress=self._progress,
        )
        self._answers[key] = found
        if kept is not None and found.complete:
            kept.put(key, found)
        return found

    def _found(self, key: str, kept: Kept | None) -> Sensitivity | None:
        from pytest_autodeploy.diagnosis.sensitivity.sensitivity import Sensitivity

        if key not in self._answers and kept and (found := kept.get(key, Sensitivity)):
            self._answers[key] = found
        return self._answers.get(key)

    def _kept(self) -> Kept | None:
        from pytest_autodeploy.diagnosis.sensitivity.kept import default_folder, kept_in

        return kept_in(self._settings.cache_path(default_folder))

    def _key(self, model: Model, run: RunResult, tolerance: Tolerance) -> str:
        from pytest_autodeploy.diagnosis.sensitivity.kept import answer_key
        from pytest_autodeploy.diagnosis.sensitivity.trials import engine

        versions = [engine(), self._pc.reference(model, tolerance.reference).versions()]
        return answer_key(
            model, run.inputs, tolerance, reset_each=run.reset_each, versions=versions
        )
