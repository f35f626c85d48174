"""Progress of long work: live on a terminal, in a log a line now and then."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

Progress = Callable[[str, int, int], None]
"""Called with what is done, how many are done, and how many there are."""

QUIET_S = 1.0
"""Work that takes no longer is not shown on a terminal."""

PERIOD_S = 0.25
"""Between two looks at what is going on."""

FIRST_LINE_S = 5.0
"""After so long a log gets its first line; each gap to the next one is twice as long."""

LONGEST_GAP_S = 300.0


class Screen(Protocol):
    """Where progress is shown; ``live`` when what was shown can be replaced."""

    live: bool

    def show(self, text: str) -> None:
        """Show what is going on: in place of what was shown before, or as a line of a log."""

    def clear(self) -> None:
        """Take away what is shown, where that can be done."""


@dataclass
class _Task:
    text: str
    began: float
    counted: str = ""

    def line(self, now: float) -> str:
        parts = [part for part in (self.text, self.counted) if part]
        return f"{': '.join(parts)}, {now - self.began:.0f} s"


class Display:
    """Shows the innermost task and how far it is, from a thread, as the task itself may wait."""

    def __init__(self, screen: Screen, now: Callable[[], float] = time.monotonic) -> None:
        self._screen = screen
        self._now = now
        self._tasks: list[_Task] = []
        self._loose: _Task | None = None
        self._shown = False
        self._due, self._gap = 0.0, FIRST_LINE_S
        self._lock = threading.RLock()
        self._busy = threading.Event()
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    def __call__(self, what: str, done: int, total: int) -> None:
        """Show that ``done`` of ``total`` are done; the last of them ends it."""
        with self._lock:
            if not self._tasks and (done <= 1 or self._loose is None):
                self._loose = _Task("", self._now())
                self._begin(self._loose)
            task = self._tasks[-1] if self._tasks else self._loose
            assert task is not None
            task.counted = f"{what} {done} of {total}" if done < total else ""
            if task.counted:
                self.look()
            elif task is self._loose:
                self._loose = None
                self._clear()

    @contextmanager
    def task(self, what: str, *, soon: bool = False) -> Iterator[_Task]:
        """Show ``what`` while the context lasts, unless it is over at once.

        A log gets its line ``soon``, too, of what others have to end.
        """
        task = _Task(what, self._now())
        with self._lock:
            if not self._tasks:
                self._begin(task)
            if soon and not self._shown:
                self._due = min(self._due, task.began + QUIET_S)
            self._tasks.append(task)
            self._watch()
        try:
            yield task
        finally:
            with self._lock:
                self._tasks.remove(task)
                if not self._tasks:
                    self._busy.clear()
                self._clear()

    def look(self) -> None:
        """Show the innermost task, when it is time to."""
        with self._lock:
            task = self._tasks[-1] if self._tasks else self._loose
            now = self._now()
            if task is None or now < self._due:
                return
            if self._screen.live:
                self._due = now + PERIOD_S
            else:
                self._gap = min(2 * self._gap, LONGEST_GAP_S)
                self._due = now + self._gap
            self._shown = True
            self._screen.show(task.line(now))

    def close(self) -> None:
        """Show nothing any more."""
        self._closed.set()
        self._busy.set()
        if self._thread is not None:
            self._thread.join(2.0)
        with self._lock:
            self._clear()

    def _begin(self, task: _Task) -> None:
        """Times count from the outermost task on: those within it share the lines of a log."""
        self._gap = FIRST_LINE_S
        self._due = task.began + (QUIET_S if self._screen.live else FIRST_LINE_S)

    def _clear(self) -> None:
        if self._shown:
            self._shown = False
            self._screen.clear()

    def _watch(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="autodeploy progress")
            self._thread.daemon = True
            self._thread.start()
        self._busy.set()

    def _run(self) -> None:
        while self._busy.wait() and not self._closed.wait(PERIOD_S):
            self.look()


_displays: list[Display] = []
_waits: list[Display] = []


@contextmanager
def shown_on(display: Display, *, waits_only: bool = False) -> Iterator[Display]:
    """Let ``show_task`` show it there, in this process, while the context lasts.

    With ``waits_only`` nothing but ``show_wait``.
    """
    displays = _waits if waits_only else _displays
    displays.append(display)
    try:
        yield display
    finally:
        displays.remove(display)
        display.close()


@contextmanager
def show_task(what: str) -> Iterator[None]:
    """Show ``what`` is going on while the context lasts, where this process shows progress."""
    if not _displays:
        yield
        return
    with _displays[-1].task(what):
        yield


@contextmanager
def show_wait(what: str) -> Iterator[Callable[[str], None]]:
    """Show for whom this process waits, as it does nothing else meanwhile.

    What it gives changes the text, when that is somebody else.
    """
    displays = _displays or _waits
    if not displays:
        yield lambda _what: None
        return
    with displays[-1].task(what, soon=True) as task:
        yield lambda what: setattr(task, "text", what)


def silent(_what: str, _done: int, _total: int) -> None:
    """Nothing is shown."""


class LiveLine:
    """The end of a terminal's line, behind what stands there, that is replaced again and again.

    The cursor is saved before and restored behind it (DECSC, DECRC): what a program writes next
    goes on where it was. ``column`` and ``width`` are those of the terminal at that moment.
    """

    live = True

    def __init__(
        self, write: Callable[[str], None], column: Callable[[], int], width: Callable[[], int]
    ) -> None:
        self._write = write
        self._column = column
        self._width = width

    def show(self, text: str) -> None:
        """Show the text, cut where the line ends; nothing where there is hardly room."""
        width = max(self._width(), 1)
        room = width - self._column() % width - 2
        if room >= _LEAST_ROOM:
            self._write(f"\x1b7 {text[:room]}\x1b[K\x1b8")

    def clear(self) -> None:
        """Take it away."""
        self._write("\x1b[K")


_LEAST_ROOM = 16
