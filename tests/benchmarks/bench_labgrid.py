"""What a lab costs: commands of labgrid-client, and what its coordinator can answer."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import time
from pathlib import Path

import pytest

from tests.helpers.real_labgrid import NoLabgrid, environment, real_lab, serial_port
from tests.helpers.support import ROOT

RATES = ROOT / "tests/benchmarks/lab_rates.py"


@pytest.mark.parametrize("count", [2, 30, 100])
def test_a_lab_of_so_many_places(tmp_path: Path, count: int) -> None:
    try:
        python = environment() / "python"
    except NoLabgrid as error:
        pytest.skip(str(error))
    places = {f"p{n:03}": serial_port(f"socket://127.0.0.1:{20000 + n}") for n in range(count)}
    tags = {name: {"board": "apollo4p_evb"} for name in places}
    with real_lab(tmp_path, places, tags) as lab:
        words = [lab.address, str(lab.coordinator_pid), "100"]
        done = subprocess.run(
            [str(python), str(RATES), *words], capture_output=True, text=True, check=True
        )
        print(f"\n{count} places, load {os.getloadavg()[0]:.1f}")
        for line in map(json.loads, done.stdout.splitlines()):
            print(
                f"  {line['what']:32} {line['per_s']:8.1f}/s"
                f" {line['coordinator_cpu_ms']:7.2f} ms of the coordinator"
            )
        began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        for _ in range(5):
            lab.ask("-v", "places")
        seconds, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        print(f"  labgrid-client places: {seconds / 5:.2f} s, {used / 5:.2f} s of CPU")
