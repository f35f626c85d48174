"""Captures of a power meter's stream; they need the extra 'joulescope'."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pytest_autodeploy.power.capture import About, CaptureWriter
from tests.helpers.power_streams import FACTS, Stream, stream

ABOUT = About(
    meter="Joulescope JS220-1",
    source="measured",
    max_a=10.0,
    max_v=15.0,
    model_sha256="ab" * 32,
    model="kws",
    board="apollo4p_evb",
    mode="HP",
    inferences=4,
    latency_us=25_000.0,
    least_s=0.1,
)


def noisy() -> Stream:
    """A window whose current is noise around 20 mA."""
    amperes = 0.02 + 0.005 * np.random.default_rng(3).standard_normal(200_123)
    return stream(amperes)


def saved(path: Path, whole: Stream, size: int = 1 << 16) -> Path:
    """A capture of a stream that arrived in chunks of ``size`` samples."""
    with CaptureWriter(path, FACTS, ABOUT) as writer:
        for chunk in whole.chunks(size):
            writer.write(chunk)
    return path
