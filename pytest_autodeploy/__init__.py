"""Hardware-in-the-loop tests of TensorFlow Lite models on Ambiq evaluation boards, in pytest.

The names of ``__all__`` are public: the types that fixtures give, to annotate tests with, and the
errors that a test may expect. Each is loaded when it is first asked for, so that importing the
package, which pytest does at every start, costs nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as typing's, which type checkers know by its name; typing takes 5 ms
if TYPE_CHECKING:
    from typing import Any

    from pytest_autodeploy.base.errors import (
        AutodeployError,
        BoardDied,
        BoardError,
        BoardRefused,
        BoardTimeout,
        BoardUnavailable,
        InputsError,
        LinkError,
        MissingExtra,
        ModelDoesNotFit,
        ModelError,
        ReferenceFailed,
        WrongFirmware,
    )
    from pytest_autodeploy.base.measurement import Source
    from pytest_autodeploy.board.base import Board
    from pytest_autodeploy.model.graph import Model, Operator, Tensor
    from pytest_autodeploy.npu.errors import NpuEstimateFailed
    from pytest_autodeploy.npu.results import Estimate
    from pytest_autodeploy.power.errors import PowerError
    from pytest_autodeploy.power.measure import PowerMeter
    from pytest_autodeploy.profile.records import Layer, LayerProfile
    from pytest_autodeploy.reference.inputs import Inputs
    from pytest_autodeploy.reference.labels import Labels
    from pytest_autodeploy.reference.runner import Reference
    from pytest_autodeploy.session.energy import Energy
    from pytest_autodeploy.session.labelled import LabelledRun
    from pytest_autodeploy.session.measured import Latency, MemoryUse, RunResult, TunedArena
    from pytest_autodeploy.session.model_session import ModelSession

__all__ = [
    "AutodeployError",
    "Board",
    "BoardDied",
    "BoardError",
    "BoardRefused",
    "BoardTimeout",
    "BoardUnavailable",
    "Energy",
    "Estimate",
    "Inputs",
    "InputsError",
    "LabelledRun",
    "Labels",
    "Latency",
    "Layer",
    "LayerProfile",
    "LinkError",
    "MemoryUse",
    "MissingExtra",
    "Model",
    "ModelDoesNotFit",
    "ModelError",
    "ModelSession",
    "NpuEstimateFailed",
    "Operator",
    "PowerError",
    "PowerMeter",
    "Reference",
    "ReferenceFailed",
    "RunResult",
    "Source",
    "Tensor",
    "TunedArena",
    "WrongFirmware",
]

_MODULES = {
    "base.errors": (
        *("AutodeployError", "BoardDied", "BoardError", "BoardRefused", "BoardTimeout"),
        *("BoardUnavailable", "InputsError", "LinkError", "MissingExtra", "ModelDoesNotFit"),
        *("ModelError", "ReferenceFailed", "WrongFirmware"),
    ),
    "base.measurement": ("Source",),
    "board.base": ("Board",),
    "model.graph": ("Model", "Operator", "Tensor"),
    "npu.errors": ("NpuEstimateFailed",),
    "npu.results": ("Estimate",),
    "power.errors": ("PowerError",),
    "power.measure": ("PowerMeter",),
    "profile.records": ("Layer", "LayerProfile"),
    "reference.inputs": ("Inputs",),
    "reference.labels": ("Labels",),
    "reference.runner": ("Reference",),
    "session.energy": ("Energy",),
    "session.labelled": ("LabelledRun",),
    "session.measured": ("Latency", "MemoryUse", "RunResult", "TunedArena"),
    "session.model_session": ("ModelSession",),
}
"""Where each public name lives: the imports above, for those that run."""

_HOMES = {name: module for module, names in _MODULES.items() for name in names}


def _load(name: str) -> Any:
    """A public name, loaded when it is first asked for."""
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


if not TYPE_CHECKING:
    # PEP 562. Type checkers must not see it: a module with a __getattr__ has any name for mypy.
    __getattr__ = _load


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
