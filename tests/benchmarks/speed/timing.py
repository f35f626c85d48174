"""Commands in turn: wall and CPU time of each, and how much of the machine others had."""

from __future__ import annotations

import os
import resource
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Spent:
    """Seconds of a command: on the clock, and on processors, with all of its children."""

    wall: float
    cpu: float

    def __add__(self, other: Spent) -> Spent:
        return Spent(self.wall + other.wall, self.cpu + other.cpu)


@dataclass
class Others:
    """The share of the machine that other processes had, and the load at the end."""

    share: float = 0.0
    load: float = 0.0


def environment() -> dict[str, str]:
    """That of a user who runs pytest a second time: bytecode is kept, nobody adds options."""
    left_out = ("PYTEST_ADDOPTS", "PYTHONDONTWRITEBYTECODE", "AUTODEPLOY_CACHE")
    return {name: value for name, value in os.environ.items() if name not in left_out}


def spend(command: Sequence[str], folder: Path, codes: Sequence[int] = (0,)) -> Spent:
    """Run a command. Raises RuntimeError with its output when it ends with another code."""
    with (folder / "bench-output.txt").open("w+b") as output:
        before = _of_children()
        began = time.perf_counter()
        ended = subprocess.run(
            command, cwd=folder, check=False, stdout=output, stderr=output, env=environment()
        )
        spent = Spent(time.perf_counter() - began, _of_children() - before)
        if ended.returncode not in codes:
            output.seek(0)
            tail = output.read().decode(errors="replace")[-3000:]
            raise RuntimeError(f"{command} ended with {ended.returncode}:\n{tail}")
    return spent


def in_turn(pairs: int, *actions: Callable[[], T]) -> Iterator[tuple[T, ...]]:
    """Each action once a turn, ``pairs`` turns, forwards and backwards; one turn before is lost."""
    for action in actions:
        action()
    for number in range(pairs):
        order = range(len(actions)) if number % 2 == 0 else range(len(actions))[::-1]
        done = {index: actions[index]() for index in order}
        yield tuple(done[index] for index in range(len(actions)))


@contextmanager
def others() -> Iterator[Others]:
    """What other processes take of the machine meanwhile; 0 where the system does not tell."""
    found = Others()
    before, own, began = _busy(), _own(), time.monotonic()
    yield found
    seconds = (time.monotonic() - began) * (os.cpu_count() or 1)
    found.share = max(0.0, (_busy() - before - (_own() - own)) / seconds)
    found.load = os.getloadavg()[0]


def _of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _own() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime + _of_children()


def _busy() -> float:
    """Seconds of all processors that were not idle, since the start of the machine."""
    try:
        fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    except OSError:
        return 0.0
    user, nice, system, _idle, _waiting, hard, soft, stolen = map(int, fields[:8])
    return (user + nice + system + hard + soft + stolen) / _TICKS
