"""One inference in TFLM on this PC, in a process that may crash, before anything is built."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

from pytest_autodeploy.base.errors import ModelError, ReferenceFailed
from pytest_autodeploy.base.kernel_paths import TFLM_PATH
from pytest_autodeploy.reference.process import PathFailed, Process

if TYPE_CHECKING:
    from pytest_autodeploy.model.graph import Model
    from pytest_autodeploy.reference.child import Spares

TRIAL_S = 60.0
"""A model that takes longer on a PC is not refused: its board has a deadline of its own."""


def can_try() -> bool:
    """Whether the extra ``sim`` is installed, which has TFLM for this PC."""
    return importlib.util.find_spec("tflite_micro") is not None


def check_on_pc(model: Model, timeout_s: float = TRIAL_S, spares: Spares | None = None) -> None:
    """Raise ModelError with TFLM's words when it refuses to prepare or to run the model.

    One inference on zeros, in the largest arena that a PC has. Without the extra ``sim`` nothing is
    tried. Raises BrokenPackage when TFLM is installed but cannot be imported.
    """
    if not can_try():
        return
    process = Process(model, (TFLM_PATH,), timeout_s, spares=spares)
    try:
        process.ask("try", TFLM_PATH, [], process.until())
    except ReferenceFailed:  # it takes too long, or was killed from outside: that says nothing
        return
    except PathFailed as reason:
        raise ModelError(
            f"{model.path}: TFLM refuses the model: {reason}",
            hint="tried on this PC, before anything was built or flashed; change this operator, or"
            " convert the model to full int8",
        ) from None
    finally:
        process.rest()
