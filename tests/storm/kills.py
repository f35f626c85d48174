"""Runs and boards killed at any time: nothing is left, and the next run is as if nothing was."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from tests.helpers.support import DIGITS, ROOT
from tests.storm.tally import Tally

LONGEST_S = 6.0
"""About how long a run takes that is not killed."""

PATIENCE_S = 240.0
CHILDREN_END_S = 15.0

COMMAND = (sys.executable, "-m", "pytest", "autodeploy", "--tflite=digits_cnn.tflite", "-q")


def storm(folder: Path, count: int, seed: int) -> Tally:
    """Kill ``count`` runs or their boards, each followed by a whole run."""
    tally, began = Tally("kills"), time.monotonic()
    shutil.copy(DIGITS, folder)
    temporary = folder / "tmp"
    temporary.mkdir()
    environment = os.environ | {"PYTHONPATH": str(ROOT), "TMPDIR": str(temporary)}
    environment |= {"XDG_CACHE_HOME": str(folder / "cache")}
    for number in range(count):
        chance = random.Random(f"{seed}/{number}")
        _kill(tally, folder, environment, chance, f"seed {seed}/{number}")
        _clean(tally, folder, environment, f"seed {seed}/{number}")
    tally.seconds = time.monotonic() - began
    return tally


def _kill(
    tally: Tally, folder: Path, environment: dict[str, str], chance: random.Random, case: str
) -> None:
    tally.injected += 1
    victim = chance.choice(("run", "board"))
    run = subprocess.Popen(
        COMMAND, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    time.sleep(chance.uniform(0.2, LONGEST_S))
    children = descendants(run.pid)
    if victim == "run":
        run.kill()
    elif children:
        with suppress(ProcessLookupError):
            os.kill(chance.choice(children), signal.SIGKILL)
    try:
        run.wait(PATIENCE_S)
    except subprocess.TimeoutExpired:
        tally.hangs += 1
        tally.case(f"{case}: the run whose {victim} was killed does not end")
        run.kill()
        run.wait()
    _look(tally, folder, children, f"{case}, {victim}")


def _look(tally: Tally, folder: Path, children: list[int], case: str) -> None:
    until = time.monotonic() + CHILDREN_END_S
    while (alive := [pid for pid in children if _alive(pid)]) and time.monotonic() < until:
        time.sleep(0.05)
    if alive:
        tally.left += 1
        tally.case(f"{case}: processes {alive} go on")
    for path in folder.glob("autodeploy-results/**/*.json"):
        try:
            json.loads(path.read_bytes())
        except ValueError:
            tally.left += 1
            tally.case(f"{case}: half a file, {path}")


def _clean(tally: Tally, folder: Path, environment: dict[str, str], case: str) -> None:
    done = subprocess.run(
        COMMAND,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    if "5 passed" in done.stdout:
        tally.recovered += 1
    else:
        tally.wrong += 1
        kept = folder.parent / f"storm-{case.replace('/', '-').replace(' ', '-')}.txt"
        kept.write_text(done.stdout + done.stderr)
        tally.case(f"{case}: the clean run failed, see {kept}")
    left = [path.name for path in (folder / "tmp").glob("autodeploy-*")]
    if left:
        tally.left += 1
        tally.case(f"{case}: after a clean run there are {left}")


def descendants(pid: int) -> list[int]:
    """The processes that a process has started, and theirs."""
    found = []
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in map(int, (task / "children").read_text().split()):
                found += [child, *descendants(child)]
    return found


def _alive(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"
