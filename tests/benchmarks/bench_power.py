"""Finding a window in a stream of samples: speed against NumPy's sums, and peak memory.

Run with ``make bench``. Times are those of the thread, so another program does not count.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pytest_autodeploy.power.meter import IN1, Chunk
from pytest_autodeploy.power.window import Window, WindowFinder
from tests.helpers.power_streams import FACTS, RATE_HZ, stream
from tests.helpers.support import ROOT

CHUNK = 1 << 16
SAMPLES = 20_000_000
ROUNDS = 5
LEAST_PER_S = 50e6

TEN_MINUTES = """
from bench_power import peak_kb, ten_minutes
before = peak_kb()
samples, window = ten_minutes()
print(samples, before, peak_kb(), window.seconds, window.energy_j)
"""
"""In a process of its own, whose peak memory is this stream's alone."""


def peak_kb() -> int:
    """Peak memory of this process since its start (Linux)."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0])


def fastest(work: Callable[[], object]) -> float:
    """The least time of the thread in several rounds."""
    times = []
    for _ in range(ROUNDS):
        began = time.thread_time()
        work()
        times.append(time.thread_time() - began)
    return min(times)


def test_speed(capsys: pytest.CaptureFixture[str]) -> None:
    whole = stream(0.01 + 0.001 * np.random.default_rng(0).standard_normal(SAMPLES))
    chunks = list(whole.chunks(CHUNK))

    def find() -> None:
        finder = WindowFinder(FACTS)
        windows = [window for chunk in chunks for window in finder.feed(chunk)]
        assert [(window.start, window.end) for window in windows] == [(whole.start, whole.end)]

    def only_sum() -> None:
        for chunk in chunks:
            chunk.current.sum(), chunk.voltage.sum(), chunk.lines.sum(dtype=np.int64)

    ours, sums = fastest(find), fastest(only_sum)
    per_s = len(whole.lines) / ours
    with capsys.disabled():
        print(
            f"\nwindow: {per_s / 1e6:.0f} million samples/s on one core, "
            f"{per_s / RATE_HZ:.0f} times a JS110's, {ours / sums:.1f} times NumPy's sums"
        )
    assert per_s >= LEAST_PER_S


def ten_minutes() -> tuple[int, Window]:
    """A window of ten minutes at 2 MS/s, which is never there as a whole."""
    short = stream(np.full(CHUNK, 0.02))
    finder = WindowFinder(FACTS)
    first = next(short.chunks([short.end]))
    finder.feed(first)
    position = first.end
    current, voltage = np.full(CHUNK, 0.02, np.float32), np.full(CHUNK, 1.8, np.float32)
    lines = np.zeros(CHUNK, np.uint8)
    for _ in range(round(600 * RATE_HZ / CHUNK)):
        finder.feed(Chunk(position, current, voltage, lines))
        position += CHUNK
    high = np.full(CHUNK, IN1, np.uint8)
    (window,) = finder.feed(Chunk(position, current, voltage, high))
    return position, window


def test_memory_of_ten_minutes(capsys: pytest.CaptureFixture[str]) -> None:
    command = [sys.executable, "-c", TEN_MINUTES]
    paths = {"PYTHONPATH": str(ROOT)}
    began = time.perf_counter()
    done = subprocess.run(command, env=paths, check=True, capture_output=True, text=True)
    samples, before, peak, seconds, joules = (float(word) for word in done.stdout.split())
    with capsys.disabled():
        print(
            f"\n10 minutes, {samples / 1e9:.2f} G samples in {time.perf_counter() - began:.1f} s: "
            f"peak memory {peak / 1024:.0f} MB, {(peak - before) / 1024:.1f} MB above the start"
        )
    assert seconds >= 600
    assert joules == pytest.approx(0.02 * 1.8 * seconds, rel=1e-6)
    assert peak - before < 50 * 1024
