"""Estimates: the one function that everything else in this room serves."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Protocol

from pytest_autodeploy.model.graph import Model
from pytest_autodeploy.model.operators import VELA_CUSTOM_CODE
from pytest_autodeploy.npu.cache import VelaCache, cache_key, default_folder
from pytest_autodeploy.npu.config_file import NpuSystem, choose_system
from pytest_autodeploy.npu.errors import NpuEstimateFailed
from pytest_autodeploy.npu.evaluate import evaluate
from pytest_autodeploy.npu.results import Estimate
from pytest_autodeploy.npu.vela import VelaOutput, run_vela, vela_arguments, vela_version

LOG = logging.getLogger(__name__)

TIMEOUT_S = 120.0


def estimate(
    model: Model,
    accelerator: str,
    *,
    system_config: str | None = None,
    memory_mode: str | None = None,
    config: Path | None = None,
    core: str = "regor",
    cache: Path | bool = True,
    timeout_s: float = TIMEOUT_S,
) -> Estimate:
    """What Vela estimates of the model on an Ethos-U accelerator, such as ``ethos-u85-256``.

    ``config`` is a Vela .ini file with the ``system_config`` and the ``memory_mode``; without it
    they are of Vela's own file, by default those that Vela assumes. ``core`` is Vela's.
    ``cache``: True for the user's folder, a folder, or False. Vela runs in a child process, for at
    most ``timeout_s``.

    Raises NpuConfigError for names and files that cannot be used, NpuEstimateFailed (with its
    ``kind``) when there is no estimate, MissingExtra without Vela, NotPrivate for a cache that
    other users can write to. A model of which nothing runs on the NPU is an estimate of status
    ``cpu_only`` without figures.
    """
    system = choose_system(
        accelerator,
        system_config=system_config,
        memory_mode=memory_mode,
        config=config,
        core=core,
    )
    version = vela_version()
    _refuse_compiled(model, accelerator)
    output, cached = _output(model, system, version, cache, timeout_s)
    return evaluate(model, system, output, version, cached=cached)


class Content(Protocol):
    """What Vela gets of a model, and the name it has in errors."""

    @property
    def name(self) -> str: ...
    @property
    def content(self) -> bytes: ...
    @property
    def sha256(self) -> str: ...


def vela_output(
    model: Content, system: NpuSystem, *, cache: Path | bool = True, timeout_s: float = TIMEOUT_S
) -> VelaOutput:
    """What Vela writes about the model, from the cache when it is there; errors as in estimate."""
    return _output(model, system, vela_version(), cache, timeout_s)[0]


def _output(
    model: Content, system: NpuSystem, version: str, cache: Path | bool, timeout_s: float
) -> tuple[VelaOutput, bool]:
    folder = default_folder() if cache is True else cache
    store = VelaCache(folder) if isinstance(folder, Path) else None
    key = cache_key(model.sha256, system.sha256, version, vela_arguments(system))
    kept = store.get(key) if store else None
    if kept is not None:
        LOG.debug("%s: Vela's output is in the cache, %s", model.name, key)
        return kept, True
    output = run_vela(model.content, system, name=model.name, timeout_s=timeout_s)
    if store:
        store.put(key, output)
    return output, False


def _refuse_compiled(model: Model, accelerator: str) -> None:
    if any(operator.custom and operator.name == VELA_CUSTOM_CODE for operator in model.operators):
        raise NpuEstimateFailed(
            f"{model.name} on {accelerator}: the model is already compiled by Vela",
            kind="compiled",
            hint="give the .tflite file that went into Vela",
        )
