"""The memory of a run and its children over time, from /proc."""

from __future__ import annotations

import os
import statistics
import threading
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

PERIOD_S = 0.25


class Peaks:
    """Samples the resident memory of this process's descendants, in bytes, while it lasts."""

    def __init__(self) -> None:
        self.samples: list[int] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Peaks:
        self._thread.start()
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _t: TracebackType | None,
    ) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._over.wait(PERIOD_S):
            if resident := descendants_bytes(os.getpid()):
                self.samples.append(resident)


def growth(samples: Sequence[int]) -> float:
    """The memory at the end over that after the start: of the last tenth and of the third one."""
    tenth = max(1, len(samples) // 10)
    end = samples[-tenth - 1 : -1] or samples[-1:]  # the last one sees a run that ends
    return statistics.median(end) / statistics.median(samples[2 * tenth : 3 * tenth] or samples)


def descendants_bytes(pid: int) -> int:
    """The resident memory of all processes below ``pid``."""
    total = 0
    for child in _children(pid):
        total += _resident(child) + descendants_bytes(child)
    return total


def _children(pid: int) -> list[int]:
    found: list[int] = []
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += map(int, file.read_text().split())
        except OSError:  # it has ended
            continue
    return found


def _resident(pid: int) -> int:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
