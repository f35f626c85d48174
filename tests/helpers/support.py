"""What several test files use."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[2]
MODELS = ROOT / "examples" / "models"
DIGITS = MODELS / "digits_cnn.tflite"
KWS = MODELS / "kws_ds_cnn.tflite"


def wait_until(condition: Callable[[], bool], seconds: float = 60) -> None:
    """Wait for what another process does."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)
