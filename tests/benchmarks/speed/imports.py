"""What a run imports: time by ``-X importtime``, summed by package."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks.speed.figures import Figure
from tests.benchmarks.speed.timing import environment
from tests.helpers.support import KWS

MOST = 6
"""So many packages and modules are named."""


def imports(folder: Path, repeats: int) -> Iterator[Figure]:
    """The imports of a start, of a whole run, of a simulated board's and of the PC's process."""
    kws = ["autodeploy", "--tflite", str(KWS), "--autodeploy-power", "off"]
    commands = {
        "pytest alone": ["-m", "pytest", "--collect-only", "-q", "-p", "no:autodeploy"],
        "start-up": ["-m", "pytest", "--collect-only", "-q"],
        "kws, pytest's process": ["-m", "pytest", *kws],
        "simulated board": ["-c", "import pytest_autodeploy.sim.__main__, tflite_micro"],
        "PC side": [
            "-c",
            "import pytest_autodeploy.reference.worker, ai_edge_litert.interpreter",
        ],
    }
    for name, command in commands.items():
        seen = [_times(command, folder) for _ in range(repeats)]
        best = min(seen, key=lambda times: sum(times.values()))
        values = tuple(sum(times.values()) / 1e3 for times in seen)
        largest = ", ".join(f"{what} {us / 1e3:.1f}" for what, us in _packages(best))
        detail = f"{len(best)} modules: {largest}"
        yield Figure(f"imports: {name}", "ms", "cpu", values, detail=detail, parts=dict(best))


def _times(command: list[str], folder: Path) -> Counter[str]:
    """Microseconds of each module without those that it imports."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *command],
        cwd=folder,
        check=False,
        capture_output=True,
        text=True,
        env=environment(),
    )
    times: Counter[str] = Counter()
    for line in done.stderr.splitlines():
        parts = line.removeprefix("import time:").split("|")
        if len(parts) == 3 and parts[0].strip().isdigit():
            times[parts[2].strip()] += int(parts[0])
    return times


def _packages(times: Counter[str]) -> list[tuple[str, int]]:
    """The packages that take most; our own by room."""
    sums: Counter[str] = Counter()
    for name, us in times.items():
        parts = name.split(".")
        ours = parts[0] == "pytest_autodeploy"
        sums[".".join(parts[:2]) if ours else parts[0]] += us
    return sums.most_common(MOST)
