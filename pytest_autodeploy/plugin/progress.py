"""Progress on the terminal of a pytest run."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any, TextIO

import pytest

from pytest_autodeploy.base.progress import Display, LiveLine, Progress, shown_on, silent

if TYPE_CHECKING:
    from collections.abc import Callable


class _Log:
    """A line for each look, behind a line of pytest that is not finished."""

    live = False

    def __init__(self, write: Callable[[str], None], column: Callable[[], int]) -> None:
        self._write = write
        self._column = column
        self._lines = 0

    def show(self, text: str) -> None:
        """Write the line."""
        self._write("\n" * (self._column() > 0 and not self._lines) + f"autodeploy: {text}\n")
        self._lines += 1

    def clear(self) -> None:
        """A log keeps its lines; the next one stands behind what pytest writes until then."""
        self._lines = 0


def progress_on(config: pytest.Config) -> Progress:
    """A function ``(what, done, total)`` that shows progress, and where ``show_task`` shows it.

    Nothing is shown with ``-q``; by workers of xdist, which have no terminal, only for whom they
    wait, on standard error.
    """
    if hasattr(config, "workerinput"):
        _show_waits(config)
        return silent
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or reporter.verbosity < 0:
        return silent
    writer = reporter._tw
    out = _uncaptured(config, writer._file)
    column = lambda: int(writer.width_of_current_line)  # noqa: E731

    def write(text: str) -> None:
        with suppress(OSError, ValueError):  # a terminal that has gone: the run itself says so
            out.write(text)
            out.flush()

    live = reporter.isatty and os.environ.get("TERM") != "dumb"
    screen = LiveLine(write, column, lambda: int(writer.fullwidth)) if live else _Log(write, column)
    display = Display(screen)
    shown = ExitStack()
    shown.enter_context(shown_on(display))
    config.add_cleanup(shown.close)
    return display


def _show_waits(config: pytest.Config) -> None:
    """Worker and controller have one standard error, and no other way for a word in between."""
    if config.option.verbose < 0:
        return
    out, name = _uncaptured(config, sys.__stderr__), config.workerinput["workerid"]  # type: ignore[attr-defined]

    def write(text: str) -> None:
        with suppress(OSError, ValueError):
            out.write(f"\n[{name}] {text}")
            out.flush()

    shown = ExitStack()
    shown.enter_context(shown_on(Display(_Log(write, lambda: 0)), waits_only=True))
    config.add_cleanup(shown.close)


def _uncaptured(config: pytest.Config, file: Any) -> TextIO:
    """Where pytest's own output goes, though its capturing takes what is written during a test.

    pytest captures by putting another file under the descriptor of standard output, which a thread
    cannot undo for a moment: so progress has a descriptor of its own.
    """
    capture = config.pluginmanager.get_plugin("capturemanager")
    try:
        with ExitStack() as stack:
            if capture is not None:
                stack.enter_context(capture.global_and_fixture_disabled())
            copy = os.dup(file.fileno())
    except (OSError, ValueError, AttributeError):  # pytester's: a file in memory, not captured
        out: TextIO = file
        return out
    copied = os.fdopen(copy, "w", encoding="utf-8", errors="replace")
    config.add_cleanup(copied.close)
    return copied
