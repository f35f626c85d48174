"""What several test files use."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
MODELS = ROOT / "examples" / "models"
DIGITS = MODELS / "digits_cnn.tflite"
KWS = MODELS / "kws_ds_cnn.tflite"
