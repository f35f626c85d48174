"""Progress of long work: a line that is rewritten on a terminal, nothing in a log."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

Progress = Callable[[str, int, int], None]
"""Called with what is done, how many are done, and how many there are."""

QUIET_S = 1.0
PERIOD_S = 0.1


def silent(_what: str, _done: int, _total: int) -> None:
    """Nothing is shown."""


class ProgressLine:
    """A line that is rewritten by a ``writer``, past what ``capture`` of pytest catches."""

    def __init__(self, capture: Any, writer: Any) -> None:
        self._capture = capture
        self._writer = writer
        self._began = self._shown = 0.0

    def __call__(self, what: str, done: int, total: int) -> None:
        now = time.monotonic()
        if done <= 1:
            self._began = now
        if now - self._began < QUIET_S:
            return
        if done < total and now - self._shown < PERIOD_S:
            return
        self._shown = now
        text = f"  {what} {done} of {total}"
        self._write("\r" + (" " * len(text) + "\r" if done >= total else text))

    def _write(self, text: str) -> None:
        if self._capture is None:
            self._writer.write(text, flush=True)
            return
        with self._capture.global_and_fixture_disabled():
            self._writer.write(text, flush=True)
