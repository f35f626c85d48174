"""A core that runs without a count: it ends its runs where no access is lost."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pytest_autodeploy.virtual import outside
from pytest_autodeploy.virtual.core import Counting
from tests.helpers.emulation import needs_compiler
from tests.helpers.virtual_machine import Bench, assemble, finish, machine

pytest.importorskip("unicorn")
pytestmark = needs_compiler

BYTES = 500
ECHO = f"""
 ldr r4, =0x40004000
 ldr r5, ={BYTES}
1: ldr r0, [r4, #4]
 tst r0, #2
 beq 1b
 ldr r0, [r4]
 str r0, [r4]
 subs r5, #1
 bne 1b
 bkpt 0
"""
TICKING = """
 ldr r0, =0xE000E010
 ldr r1, =24999
 str r1, [r0, #4]
 movs r1, #0
 str r1, [r0, #8]
 movs r1, #7
 str r1, [r0]
 ldr r4, =0x20000000
 movs r3, #0
 str r3, [r4]
1: ldr r3, [r4]
 cmp r3, #3
 blt 1b
 bkpt 0
handler:
 ldr r1, [r4]
 adds r1, #1
 str r1, [r4]
 bx lr
"""


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every run wants to end at once."""
    monkeypatch.setattr(outside, "SLICE_S", 1e-6)


@pytest.fixture
def boards() -> Iterator[list[Bench]]:
    """Machines that are closed at the end."""
    made: list[Bench] = []
    yield made
    for board in made:
        board.core.count(Counting.FAST)


def uncounted(program: bytes, boards: list[Bench]) -> Bench:
    """A machine that runs a program without a count."""
    board = machine(program)
    board.core.count(Counting.NONE)
    boards.append(board)
    return board


@pytest.mark.usefixtures("hasty")
def test_no_byte_is_lost_or_comes_twice_wherever_runs_end(boards: list[Bench]) -> None:
    board = uncounted(assemble(ECHO), boards)
    data = bytes(number * 7 & 0xFF for number in range(BYTES))
    board.wire.give(data)
    finish(board)
    assert board.wire.sent == data


def test_a_program_without_accesses_is_interrupted(
    boards: list[Bench], monkeypatch: pytest.MonkeyPatch
) -> None:
    """SysTick goes by the time outside: a millisecond each."""
    monkeypatch.setattr(outside, "QUIET_S", 0.02)
    board = uncounted(assemble(TICKING, handler=15), boards)
    finish(board)
    assert board.bus.load(0x2000_0000) >= 3


def test_time_passes_without_a_count_and_stands_between_runs(boards: list[Bench]) -> None:
    board = uncounted(assemble(TICKING, handler=15), boards)
    finish(board)
    cycles = board.time.cycles
    assert cycles > 3 * 20_000  # it sees three ticks, each of 25,000 clocks of 40 ns
    board.time.now()
    assert board.time.cycles == cycles
