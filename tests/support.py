"""What several test files use."""

from __future__ import annotations

from pathlib import Path

MODELS = Path(__file__).parent.parent / "examples" / "models"
DIGITS = MODELS / "digits_cnn.tflite"
KWS = MODELS / "kws_ds_cnn.tflite"
