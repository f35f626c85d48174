"""What more boards give a run: the wall time of ``-n 2`` on a rig of two, over that of one process.

The boards are simulated, behind TCP, with a link whose latency is what a run waits for: that is the
case of real boards, which work while this PC waits. Four models, in turn, three times.

``pytest tests/benchmarks/bench_rig.py -o python_files='bench_*.py' -s``
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

from tests.helpers.rigs import running_boards, write_rig
from tests.helpers.support import DIGITS

LATENCY_MS = os.environ.get("AUTODEPLOY_BENCH_LATENCY_MS", "300")
ROUNDS = int(os.environ.get("AUTODEPLOY_BENCH_ROUNDS", "3"))
MODELS = ("a", "b", "c", "d")
MOST = 0.6


def seconds(folder: Path, rig: Path, *arguments: str) -> float:
    """The wall time of a run of all built-in tests."""
    models = [f"--tflite={name}.tflite" for name in MODELS]
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "autodeploy", *models, f"--evb-rig={rig}", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return time.monotonic() - began


def test_two_workers_on_two_boards(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    for name in MODELS:
        shutil.copy(DIGITS, project / f"{name}.tflite")
    link = ("--tcp", "127.0.0.1:0", "--link-latency-ms", LATENCY_MS)
    with running_boards(tmp_path, dict.fromkeys(("lab-a", "lab-b"), DIGITS), *link) as ports:
        rig = write_rig(tmp_path / "lab.toml", ports)
        runs = [(seconds(project, rig), seconds(project, rig, "-n", "2")) for _ in range(ROUNDS)]
    for alone, two in runs:
        print(f"one process {alone:.1f} s, -n 2 {two:.1f} s: {two / alone:.2f}")
    assert statistics.median(two / alone for alone, two in runs) <= MOST
