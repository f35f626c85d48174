"""The PC's side of a run: what TFLite computes of a model, and what Vela estimates of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_autodeploy.run.preflight import npu_arguments

if TYPE_CHECKING:
    from pytest_autodeploy.model.graph import Model
    from pytest_autodeploy.npu.results import Estimate
    from pytest_autodeploy.reference.child import Spares
    from pytest_autodeploy.reference.runner import Reference
    from pytest_autodeploy.settings.settings import Settings


AWAKE = 1
"""References that keep their process: what others have left is taken by the next one."""


class PcSide:
    """Keeps one reference per model and choice of kernels; ``close`` ends their processes.

    One at a time has a process, which goes from hand to hand.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._references: dict[tuple[str, tuple[str, ...]], Reference] = {}
        self._spares: Spares | None = None

    def reference(self, model: Model, kernels: str = "auto") -> Reference:
        """The PC side of a model; ``kernels`` pins one path, "auto" is what the settings say."""
        from pytest_autodeploy.base.kernel_paths import LITERT_PATHS
        from pytest_autodeploy.reference.runner import Reference

        kernels = self._settings.reference if kernels == "auto" else kernels
        paths = LITERT_PATHS if kernels == "auto" else (kernels,)
        key = (model.sha256, paths)
        found = self._references.pop(key, None)
        others = list(self._references.values())
        for other in others[: len(others) + 1 - AWAKE]:
            other.rest()
        found = found or Reference(model, paths=paths, spares=self.spares)
        self._references[key] = found
        return found

    @property
    def spares(self) -> Spares:
        """Children of this run that have nothing to do."""
        from pytest_autodeploy.reference.child import Spares

        self._spares = self._spares or Spares()
        return self._spares

    def estimate(self, model: Model, accelerator: str) -> Estimate:
        """What Vela estimates of the model.

        Raises NpuEstimateFailed, NpuConfigError, and MissingExtra without Vela.
        """
        from pytest_autodeploy.npu.cache import default_folder
        from pytest_autodeploy.npu.estimate import estimate

        cache = self._settings.cache_path(default_folder) or False
        return estimate(model, accelerator, cache=cache, **npu_arguments(self._settings))

    def close(self) -> None:
        """End the processes of the references."""
        for reference in self._references.values():
            reference.close()
        if self._spares is not None:
            self._spares.close()
