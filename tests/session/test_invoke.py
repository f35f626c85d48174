"""How many inferences a call to the board has, and how long it may take."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pytest_autodeploy.rpc.messages import InvokeTiming
from pytest_autodeploy.session.model_session import ModelSession
from pytest_autodeploy.sim.noise import TimingNoise
from tests.helpers.noisy_session import session, without_tflm


class Slow:
    """A board whose inferences take so many seconds by the clock of this PC."""

    def __init__(self, measured: ModelSession, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.each = 50.0, 0.1
        self.calls: list[tuple[int, float | None]] = []
        clock = SimpleNamespace(monotonic=lambda: self.now)
        monkeypatch.setattr("pytest_autodeploy.session.model_on_board.time", clock)
        cast(Any, measured.board.client).invoke = self.invoke
        self.measured = measured

    def invoke(self, count: int, timeout_s: float | None = None) -> InvokeTiming:
        self.calls.append((count, timeout_s))
        self.now += self.each * count
        return InvokeTiming(7 * count, False, (7,) * count)

    def run(self, count: int, each: float = 0.09) -> list[int]:
        """The inferences of each call."""
        self.each, before = each, len(self.calls)
        assert len(self.measured._invoke(count)) == count
        return [share for share, _ in self.calls[before:]]


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[Slow]:
    with without_tflm():
        yield Slow(session(TimingNoise()), monkeypatch)


def test_a_call_takes_about_half_a_second(slow: Slow) -> None:
    assert slow.run(13, each=0.09) == [1, 5, 5, 2]
    assert slow.run(3, each=0.3) == [1, 1, 1]
    assert slow.run(3, each=9.0) == [1, 1, 1]
    assert slow.run(2, each=0.0) == [1, 1]


def test_a_call_has_no_more_inferences_than_the_board_takes(slow: Slow) -> None:
    identity = slow.measured.identity
    slow.measured._identity = replace(identity, max_invocations=4)
    assert slow.run(9, each=0.01) == [1, 4, 4]
    assert slow.measured._share == 4


def test_a_call_may_take_twenty_times_as_long_as_the_slowest_did(slow: Slow) -> None:
    slow.run(13, each=0.09)
    # None is the deadline of the option, until the first inference was seen.
    deadlines = [deadline for _, deadline in slow.calls]
    assert deadlines == [None, pytest.approx(9.0), pytest.approx(9.0), 5.0]
    slow.run(1, each=0.3)
    slow.run(1, each=0.1)
    assert slow.calls[-1][1] == pytest.approx(6.0)
    slow.run(1, each=2.0)
    slow.run(1)
    assert slow.calls[-1][1] == slow.measured.board.client.timeout_s == 10.0


def test_ticks_are_microseconds_by_the_boards_clock(slow: Slow) -> None:
    slow.measured._identity = replace(slow.measured.identity, tick_hz=2_000_000)
    assert slow.measured._us(7) == 3.5
