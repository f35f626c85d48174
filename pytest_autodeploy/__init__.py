"""Hardware-in-the-loop tests of TensorFlow Lite models on Ambiq evaluation boards, in pytest.

The names of ``__all__`` are public: the types that fixtures give, to annotate tests with, and the
errors that a test may expect. Each is loaded when it is first asked for, so that importing the
package, which pytest does at every start, costs nothing.
"""

from __future__ import annotations

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
"""Where each public name lives, as in `__init__.pyi`, which type checkers read."""

_HOMES = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> object:
    """A public name, loaded when it is first asked for (PEP 562)."""
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
