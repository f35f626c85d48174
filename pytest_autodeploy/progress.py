"""Progress of long work: a line that is rewritten on a terminal, nothing in a log."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest

    from pytest_autodeploy.model_on_board import Progress

QUIET_S = 1.0
PERIOD_S = 0.1


def progress_on(config: pytest.Config) -> Progress:
    """A function ``(what, done, total)`` that shows progress once work has taken a second."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or not reporter.isatty:
        return silent
    return ProgressLine(config.pluginmanager.get_plugin("capturemanager"), reporter._tw)


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
