"""Many boards behind one coordinator of labgrid, many runs at once, and deaths of both."""

from __future__ import annotations

import json
import os
import queue
import random
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from tests.helpers.real_labgrid import RealLab, real_lab, serial_port
from tests.helpers.support import ROOT
from tests.storm.echo_farm import overlaps
from tests.storm.tally import Tally

BOARDS, FEW, AT_ONCE = 30, 2, 6
"""Boards in all, those of them that are scarce, and runs at once."""

SCARCE = 0.3
"""The share of runs that want one of the few."""

RUN_PATIENCE_S = 600.0
LEFT_PATIENCE_S = 120.0
"""labgrid takes up to 90 s to let a reservation fall that nobody asks for."""

WAYS = ("none", "none", "kill", "kill both", "terminate")
"""How a run is ended: by itself; killed; killed with its keeper; told to end."""


@dataclass
class Run:
    """A run: what it wanted, how it was ended, and what it said."""

    pool: str
    way: str
    waited: float | None = None
    place: str = ""
    began: float = 0.0
    ended: float = 0.0
    end: str = ""
    text: str = ""


@dataclass
class Storm:
    """What all threads of a storm share."""

    lab: RealLab
    folder: Path
    tally: Tally
    runs: list[Run] = field(default_factory=list)
    board_deaths: int = 0


def storm(folder: Path, count: int, seed: int) -> Tally:
    """``count`` runs, ``AT_ONCE`` at a time, of which some are killed, on boards that die."""
    tally, began = Tally("labgrid"), time.monotonic()
    logs = folder / "boards"
    logs.mkdir()
    with ExitStack() as stack:
        farm = stack.enter_context(_farm(BOARDS, logs))
        assert farm.stdout is not None
        ports = json.loads(farm.stdout.readline())
        places = {
            f"b{number:02}": serial_port(f"socket://127.0.0.1:{port}")
            for number, port in enumerate(ports)
        }
        tags = {
            name: {"board": "apollo4p_evb", "pool": "few" if number < FEW else "many"}
            for number, name in enumerate(places)
        }
        lab = stack.enter_context(real_lab(folder / "lab", places, tags))
        shared = Storm(lab, folder, tally)
        _run_all(shared, farm, count, seed)
        _look(shared, logs, places)
        farm.stdin.close() if farm.stdin else None
        farm.wait()
    tally.seconds = time.monotonic() - began
    sys.stdout.write(report(shared) + "\n")
    return tally


def _farm(count: int, logs: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.storm.echo_farm", str(count), str(logs)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True)


def _run_all(shared: Storm, farm: subprocess.Popen[str], count: int, seed: int) -> None:
    numbers: queue.SimpleQueue[int] = queue.SimpleQueue()
    for number in range(count):
        numbers.put(number)
    over = threading.Event()

    def work() -> None:
        with suppress(queue.Empty):
            while True:
                chance = random.Random(f"{seed}/{numbers.get_nowait()}")
                _one(shared, chance)

    workers = [threading.Thread(target=work) for _ in range(AT_ONCE)]
    reaper = threading.Thread(target=_kill_boards, args=(shared, farm, over, seed))
    for thread in (*workers, reaper):
        thread.start()
    for thread in workers:
        thread.join()
    over.set()
    reaper.join()


def _kill_boards(
    shared: Storm, farm: subprocess.Popen[str], over: threading.Event, seed: int
) -> None:
    """One board after the other dies for some seconds."""
    chance = random.Random(f"{seed}/boards")
    assert farm.stdin is not None
    while not over.wait(chance.uniform(3, 9)):
        number = chance.randrange(FEW if chance.random() < SCARCE else BOARDS)
        farm.stdin.write(f"kill {number}\n")
        farm.stdin.flush()
        shared.board_deaths += 1
        over.wait(chance.uniform(2, 6))
        farm.stdin.write(f"revive {number}\n")
        farm.stdin.flush()


def _one(shared: Storm, chance: random.Random) -> None:
    pool, way = ("few" if chance.random() < SCARCE else "many"), chance.choice(WAYS)
    _start(shared, Run(pool, way), chance)


def _start(shared: Storm, run: Run, chance: random.Random) -> None:
    pool, way = run.pool, run.way
    shared.runs.append(run)
    wanted = f"+board=apollo4p_evb,pool={pool}"
    words = [wanted, str(shared.lab.client), f"{chance.uniform(1, 6):.1f}", "600"]
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.storm.lab_run", *words],
        cwd=ROOT,
        env=os.environ | shared.lab.environment | {"TMPDIR": str(shared.folder)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    if way != "none":
        shared.tally.injected += 1
        with suppress(subprocess.TimeoutExpired):
            process.wait(chance.uniform(1, 40))
        _end(process, way)
        run.ended = time.monotonic()
    try:
        output, _ = process.communicate(timeout=RUN_PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        output, _ = process.communicate()
        shared.tally.hangs += 1
        shared.tally.case(f"a run on {pool} does not end ({way})")
    if process.returncode == -signal.SIGTERM:  # before it could have had anything
        run.end = "not begun"
    _read(shared, run, output)


def _end(process: subprocess.Popen[str], way: str) -> None:
    if way == "terminate":
        process.terminate()
        return
    if way == "kill both":
        with suppress(OSError, ValueError):
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
            for child in children:
                os.kill(int(child), signal.SIGKILL)
    process.kill()


def _read(shared: Storm, run: Run, output: str) -> None:
    for line in output.splitlines():
        said = json.loads(line)
        if "place" in said:
            run.place, run.waited, run.began = said["place"], said["waited"], said["at"]
        elif "given" in said:
            run.ended = said["given"]
        else:
            run.end, run.text = said.get("kind", said["end"]), said.get("text", "")
    if run.end == "done":
        shared.tally.recovered += 1
    if not run.end and run.way in ("none", "terminate"):
        shared.tally.foreign += 1
        shared.tally.case(f"a run ended without a word ({run.way}, {run.place})")


def _look(shared: Storm, logs: Path, places: object) -> None:
    """After all: no board had two hosts, and every place can be had again."""
    twice = [each for log in sorted(logs.glob("*.log")) for each in overlaps(log)]
    held = sorted((r.place, r.began, r.ended) for r in shared.runs if r.place)
    for (place, _, ended), (other, began, _) in pairwise(held):
        if place == other and began < ended:
            twice.append(f"{place} was held twice for {ended - began:.2f} s")
    shared.tally.wrong += len(twice)
    for each in twice:
        shared.tally.case(each)
    # What runs have left that died with their keepers is given back by the next run on the PC.
    for pool in ("few", "many"):
        _start(shared, Run(pool, "none"), random.Random(pool))
    until = time.monotonic() + LEFT_PATIENCE_S
    while not shared.lab.is_free() and time.monotonic() < until:
        time.sleep(2)
    lost = shared.lab.ask("who").splitlines()[1:]
    shared.tally.left += len(lost)
    for line in lost:
        shared.tally.case(f"lost: {line}")
    there = shared.lab.ask("places").split()
    assert isinstance(places, dict)
    for name in set(places) - set(there):
        shared.tally.left += 1
        shared.tally.case(f"lost: {name}")


def report(shared: Storm) -> str:
    """Waiting times and ends, as lines of text."""
    lines = [f"{'pool':6}{'boards':>7}{'runs':>6}{'median s':>10}{'90 % s':>8}{'longest s':>11}"]
    for pool, boards in (("many", BOARDS - FEW), ("few", FEW)):
        waits = sorted(r.waited for r in shared.runs if r.pool == pool and r.waited is not None)
        if waits:
            tenth = waits[min(len(waits) - 1, int(0.9 * len(waits)))]
            figures = f"{statistics.median(waits):10.1f}{tenth:8.1f}{waits[-1]:11.1f}"
            lines.append(f"{pool:6}{boards:7}{len(waits):6}{figures}")
    ends = Counter((run.way, run.end or "killed") for run in shared.runs)
    lines += [f"{way:10} {end:18} {count:4}" for (way, end), count in sorted(ends.items())]
    errors = Counter(run.text for run in shared.runs if run.text)
    lines += [f"{count:4} {text}" for text, count in errors.most_common()]
    return "\n".join([*lines, f"boards that died: {shared.board_deaths}"])
