"""The gate in whole runs of pytest on a simulated board with noise: unchanged, and 10 % slower.

``AUTODEPLOY_BENCH_RUNS`` says how many of each row, 20 by default; 200 take an hour. Each ten have
a baseline of their own.

``pytest tests/benchmarks/bench_gate_runs.py -o python_files='bench_*.py' -s``
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.helpers.support import DIGITS

RUNS = int(os.environ.get("AUTODEPLOY_BENCH_RUNS", "20"))
SEED = int(os.environ.get("AUTODEPLOY_BENCH_SEED", "19"))
A_BASELINE = 10
CONFTEST = """
import os, pytest
@pytest.fixture(scope="session")
def evb_options(): return {"sim_arguments": os.environ["NOISE"].split()}
"""


def run(folder: Path, noise: str, *arguments: str) -> tuple[int, str]:
    """A run of the built-in test of latency on a board with noise."""
    command = ["pytest", "autodeploy", "--tflite=digits_cnn.tflite", "-k", "latency", *arguments]
    done = subprocess.run(
        [sys.executable, "-m", *command, "-p", "no:cacheprovider"],
        cwd=folder,
        env=os.environ | {"NOISE": noise},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def state(code: int, output: str) -> str:
    """How a comparison ended."""
    if code == 0:
        return "pass"
    return "not judged" if "cannot tell: " in output else "FAIL" if code == 1 else output


@pytest.mark.parametrize(
    ("noise", "slowdown"),
    [
        ("sd=3,outlier=0.1x3", 0),
        ("sd=3,outlier=0.1x3", 10),
        ("sd=1,modes=8", 0),
        ("sd=1,run=3", 0),
    ],
)
def test_whole_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], noise: str, slowdown: float
) -> None:
    shutil.copy(DIGITS, tmp_path)
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    found: Counter[str] = Counter()
    began = time.perf_counter()
    for number in range(RUNS):
        words = f"--timing-noise {noise} --timing-seed"
        if number % A_BASELINE == 0:
            made = run(
                tmp_path, f"{words} {SEED * 100_000 + number}", "--autodeploy-update-baseline=all"
            )
            assert made[0] == 0, made[1]
        seed = SEED * 100_000 + 50_000 + number
        now = f"{words} {seed} --slowdown {slowdown}"
        found[state(*run(tmp_path, now, "--autodeploy-compare"))] += 1
    with capsys.disabled():
        seconds = (time.perf_counter() - began) / RUNS
        print(f"\n{noise}, +{slowdown} %: {dict(found)}, {seconds:.1f} s a run")
    assert set(found) <= {"pass", "FAIL", "not judged"}
    assert not found["pass" if slowdown else "FAIL"]
