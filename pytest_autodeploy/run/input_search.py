"""Inputs that notice more: searched once for a model, and made again from what is kept."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from pytest_autodeploy.limits.declarations import BY_NAME
from pytest_autodeploy.limits.declared import declare_text
from pytest_autodeploy.limits.tolerance import Tolerance

if TYPE_CHECKING:
    from pytest_autodeploy.base.progress import Progress
    from pytest_autodeploy.model.graph import Model
    from pytest_autodeploy.reference.inputs import Inputs
    from pytest_autodeploy.run.pc import PcSide
    from pytest_autodeploy.settings.settings import Settings


class Searching:
    """Gives the searched inputs of models; nothing is loaded before the first question."""

    def __init__(self, settings: Settings, pc: PcSide, progress: Progress) -> None:
        self._settings = settings
        self._pc = pc
        self._progress = progress

    def inputs(self, model: Model, samples: Inputs | None) -> Inputs:
        """Inputs that notice most, of the run's own number; ``samples`` may be among them.

        What a complete search has found is kept by the model's content, and so on. Raises
        MissingExtra without TFLM, and ReferenceFailed.
        """
        from pytest_autodeploy.diagnosis.sensitivity.kept import default_folder, kept_in
        from pytest_autodeploy.diagnosis.sensitivity.search import KeptRecipe, made, search

        seed, tolerance = self._settings.seed, _tolerance(self._settings)
        kept = kept_in(self._settings.cache_path(default_folder))
        key = self._key(model, samples, tolerance)
        if known := kept.get(key, KeptRecipe) if kept else None:
            inputs = made(model, known.recipe, seed, samples)
            if inputs.sha256 == known.inputs_sha256:
                return inputs
        recipe = search(
            model,
            self._settings.runs,
            seed,
            lambda tried: self._pc.reference(model, tolerance.reference).run(
                tried, reset_each=model.stateful
            ),
            tolerance,
            samples=samples,
            seconds=self._settings.sensitivity_time,
            progress=self._progress,
        )
        inputs = made(model, recipe, seed, samples)
        if kept is not None and recipe.complete:
            kept.put(key, KeptRecipe(recipe, inputs.sha256))
        return inputs

    def _key(self, model: Model, samples: Inputs | None, tolerance: Tolerance) -> str:
        from pytest_autodeploy.diagnosis.sensitivity.kept import key_of
        from pytest_autodeploy.diagnosis.sensitivity.trials import engine

        settings = self._settings
        given = samples.sha256 if samples else ""
        engines = [engine(), self._pc.reference(model, tolerance.reference).versions()]
        wanted = [settings.runs, settings.seed, asdict(tolerance)]
        return key_of(["search", model.sha256, given, wanted, engines])


def _tolerance(settings: Settings) -> Tolerance:
    """That of the command line or the ini file, else the default: a test's own is not known yet."""
    texts = settings.limits.get("output_tolerance", ())
    if not texts:
        return Tolerance()
    limit = declare_text(BY_NAME["output_tolerance"], *texts[0]).limit
    return limit if isinstance(limit, Tolerance) else Tolerance()
