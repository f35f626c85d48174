"""Progress of long work: what is shown of it, and when."""

from __future__ import annotations

import itertools
import threading

import pytest

from pytest_autodeploy.base.progress import Display, LiveLine, show_task, shown_on


class Screen:
    def __init__(self, *, live: bool) -> None:
        self.live = live
        self.shown: list[str] = []
        self.first = threading.Event()
        self.cleared = 0

    def show(self, text: str) -> None:
        self.shown.append(text)
        self.first.set()

    def clear(self) -> None:
        self.cleared += 1


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def follow(screen: Screen, seconds: int) -> list[str]:
    """What a task of so many seconds shows that is looked at every second."""
    clock = Clock()
    display = Display(screen, clock)
    with display.task("flashing evb"):
        for second in range(seconds):
            clock.now = 100.0 + second
            display.look()
    return screen.shown


def test_a_log_gets_lines_after_5_seconds_and_then_with_growing_gaps() -> None:
    shown = follow(Screen(live=False), 200)
    assert shown == [f"flashing evb, {second} s" for second in (5, 15, 35, 75, 155)]


def test_a_gap_never_exceeds_5_minutes() -> None:
    seconds = [int(line.split()[-2]) for line in follow(Screen(live=False), 3000)]
    assert max(b - a for a, b in itertools.pairwise(seconds)) == 300


def test_work_that_is_over_soon_is_not_shown() -> None:
    live, log = Screen(live=True), Screen(live=False)
    assert follow(live, 1) == follow(log, 5) == []
    assert live.cleared == log.cleared == 0


def test_a_terminal_is_live_and_clean_at_the_end() -> None:
    screen = Screen(live=True)
    assert follow(screen, 4) == [f"flashing evb, {second} s" for second in (1, 2, 3)]
    assert screen.cleared == 1


def test_what_is_innermost_is_shown_and_how_far_it_is() -> None:
    screen, clock = Screen(live=True), Clock()
    display = Display(screen, clock)
    with display.task("loading kws"):
        with display.task("building"):
            clock.now += 2
            display.look()
        display("inference", 3, 10)
        clock.now += 2
        display.look()
    assert screen.shown == ["building, 2 s", "loading kws: inference 3 of 10, 4 s"]


def test_steps_are_shown_without_a_task_and_their_last_one_ends_it() -> None:
    screen, clock = Screen(live=False), Clock()
    display = Display(screen, clock)
    for done in range(1, 21):
        display("inference", done, 20)
        clock.now += 1
    assert screen.shown == ["inference 6 of 20, 5 s", "inference 16 of 20, 15 s"]
    assert screen.cleared == 1


def test_a_task_that_only_waits_is_shown_by_the_thread() -> None:
    screen = Screen(live=True)
    display = Display(screen)
    with shown_on(display), show_task("waiting for evb"):
        assert screen.first.wait(60)
    assert screen.shown[0].startswith("waiting for evb, ")
    assert not display._thread or not display._thread.is_alive()


def test_an_error_ends_what_is_shown() -> None:
    screen, clock = Screen(live=True), Clock()
    display = Display(screen, clock)

    def fails() -> None:
        with display.task("flashing evb"):
            clock.now += 2
            display.look()
            raise ValueError

    with pytest.raises(ValueError, match=r"^$"):
        fails()
    clock.now += 2
    display.look()
    assert screen.shown == ["flashing evb, 2 s"]


def line(column: int, width: int) -> str:
    """What a terminal is sent of a long text."""
    sent: list[str] = []
    LiveLine(sent.append, lambda: column, lambda: width).show("x" * 200)
    return "".join(sent)


def test_a_live_text_stands_behind_the_cursor_and_ends_with_the_line() -> None:
    assert line(column=20, width=80) == f"\x1b7 {'x' * 58}\x1b[K\x1b8"


def test_where_there_is_no_room_nothing_is_shown() -> None:
    assert line(column=75, width=80) == ""
    assert line(column=160, width=80) == f"\x1b7 {'x' * 78}\x1b[K\x1b8"
