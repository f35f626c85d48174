"""Progress of long work: a line on a terminal, nothing in a log."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")


def output_of(digits: Path, *, terminal: bool) -> str:
    """What a run writes that takes seconds, as its link is slow; to a terminal or to a pipe."""
    readable, writable = os.openpty() if terminal else os.pipe()
    slow = ("--evb-sim-link", "latency_ms=20", "--tflite-runs", "200")
    arguments = ("--tflite", digits.name, *slow, "-k", "outputs")
    with subprocess.Popen([sys.executable, "-m", "pytest", *arguments], stdout=writable):
        os.close(writable)
        written = b""
        try:
            while piece := os.read(readable, 65536):
                written += piece
        except OSError:  # a terminal ends so
            pass
    os.close(readable)
    return written.decode()


def test_a_terminal_shows_progress(pytester: pytest.Pytester, digits: Path) -> None:
    assert "\r  inference " in output_of(digits, terminal=True)


def test_a_log_shows_none(pytester: pytest.Pytester, digits: Path) -> None:
    written = output_of(digits, terminal=False)
    assert "1 passed" in written
    assert "inference " not in written.partition("autodeploy: digits_cnn")[0]
