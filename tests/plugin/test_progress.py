"""Progress of long work in a run: live on a terminal, in a log a line now and then."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")


SLOW = ("--evb-sim-link", "latency_ms=50", "--tflite-runs", "200", "-k", "outputs")
"""A run that takes more than five seconds, as its link is slow."""


def output_of(digits: Path, *more: str, terminal: bool) -> str:
    """What that run writes to a terminal or to a pipe."""
    readable, writable = os.openpty() if terminal else os.pipe()
    arguments = ("--tflite", digits.name, *SLOW, *more)
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


@pytest.mark.slow
def test_a_terminal_shows_progress_behind_what_stands_there(
    pytester: pytest.Pytester, digits: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    shown = output_of(digits, terminal=True)
    assert re.search(r"\x1b7 .*inference \d+ of 200, \d+ s\x1b\[K\x1b8", shown)


@pytest.mark.slow
def test_a_log_shows_a_line_now_and_then(pytester: pytest.Pytester, digits: Path) -> None:
    written = output_of(digits, terminal=False)
    assert "1 passed" in written
    lines = re.findall(r"^autodeploy: .*inference \d+ of 200, \d+ s$", written, re.MULTILINE)
    assert 1 <= len(lines) <= 4
    assert "\x1b" not in written


@pytest.mark.slow
@pytest.mark.parametrize("quiet", [("-q",), ("-n", "1")])
def test_quiet_runs_and_workers_of_xdist_show_none(
    pytester: pytest.Pytester, digits: Path, quiet: tuple[str, ...]
) -> None:
    written = output_of(digits, *quiet, terminal=False)
    assert "1 passed" in written
    assert not re.search(r"inference \d+ of 200,", written)
