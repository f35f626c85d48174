"""The core of a virtual board: exact counts, exceptions, faults and sleep."""

from __future__ import annotations

import pytest

from pytest_autodeploy.virtual.core import Core, Counting, Stop
from pytest_autodeploy.virtual.counter import fast_counter, thumb_instructions
from pytest_autodeploy.virtual.timebase import FS, Timebase
from tests.helpers.emulation import needs_compiler
from tests.helpers.virtual_machine import assemble, finish, machine, stopped

pytest.importorskip("unicorn")
pytestmark = needs_compiler

LOOPS = 2000
COUNTED = f"""
 ldr r0, ={LOOPS}
 movs r4, #0
1: tst r0, #1
 ite eq
 addeq r4, #1
 subne r4, #3
 ldr r1, =0x20000000
 str r4, [r1], #4
 ldrd r2, r3, [r1]
 subs r0, #1
 bne 1b
 bkpt 0
"""
IN_A_LOOP = 9
SKIPPED_IN_A_LOOP = 1


@pytest.mark.parametrize("budget", [10**9, 1000, 997, 13, 3, 2])
@pytest.mark.parametrize("exact", [True, False])
def test_the_count_does_not_depend_on_how_the_program_is_cut(budget: int, exact: bool) -> None:
    board = machine(assemble(COUNTED))
    board.core.count(Counting.EXACT if exact else Counting.FAST)
    assert stopped(board, budget) is Stop.BREAKPOINT
    counted = IN_A_LOOP if exact else IN_A_LOOP - SKIPPED_IN_A_LOOP
    around = 3  # two before, and the breakpoint
    assert board.time.cycles == counted * LOOPS + around
    assert board.core.register(4) == (-LOOPS) & 0xFFFF_FFFF


def test_the_installed_unicorn_tells_its_own_count() -> None:
    """Without it everything is exact, and some six times as slow."""
    assert fast_counter(Core(Timebase(1)).uc) is not None


@pytest.mark.parametrize(
    ("code", "count"),
    [("00bf", 1), ("4ff05100", 1), ("00bf4ff0510000bf", 3), ("0af8014b", 1), ("dde90223fee7", 2)],
)
def test_instructions_of_two_and_four_bytes_are_one_each(code: str, count: int) -> None:
    assert thumb_instructions(bytes.fromhex(code)) == count


SYSTICK = """
 ldr r0, =0xE000E010
 movs r1, #99
 str r1, [r0, #4]
 movs r1, #0
 str r1, [r0, #8]
 movs r1, #7
 {mask}
 str r1, [r0]
 vmov s3, r1
 movs r2, #21
 movs r3, #0
1: {wait}
 cmp r3, #0
 beq 1b
 vmov r6, s3
 bkpt 0
handler:
 movs r2, #42
 vmov s3, r2
 movs r3, #1
 ldr r5, =0x20000000
 mrs r7, ipsr
 str r7, [r5]
 str r3, [r5, #4]
 bx lr
"""


def test_an_interrupt_keeps_every_register_of_the_program() -> None:
    program = SYSTICK.format(mask="nop", wait="ldr r4, =0x20000004\n ldr r3, [r4]")
    board = machine(assemble(program, handler=15))
    finish(board)
    assert board.core.register(2) == 21  # r2 and s3 are the handler's own within it
    assert board.core.register(6) == 7
    assert board.bus.load(0x2000_0000) == 15
    assert board.core.exception == 0


def test_a_masked_interrupt_waits_and_wakes_a_sleeping_core() -> None:
    program = SYSTICK.format(
        mask="cpsid i",
        wait="wfi\n ldr r4, =0x20000004\n ldr r8, [r4]\n cpsie i\n isb\n ldr r3, [r4]",
    )
    board = machine(assemble(program, handler=15))
    finish(board)
    assert board.core.register(8) == 0  # not taken before it was unmasked
    assert board.core.register(3) == 1


@pytest.mark.parametrize("counting", [Counting.FAST, Counting.EXACT])
def test_an_interrupt_that_stays_masked_holds_nothing_up(counting: Counting) -> None:
    """The program writes to PRIMASK what it was, as a critical section within another does."""
    program = SYSTICK.format(
        mask="cpsid i",
        wait="wfi\n mrs r6, primask\n msr primask, r6\n movs r8, #5\n cpsie i\n isb\n"
        " ldr r4, =0x20000004\n ldr r3, [r4]",
    )
    board = machine(assemble(program, handler=15))
    board.core.count(counting)
    finish(board)
    assert board.core.register(8) == 5
    assert board.core.register(3) == 1


def test_sleep_lets_time_pass_but_no_cycles() -> None:
    program = SYSTICK.format(mask="nop", wait="wfi\n ldr r4, =0x20000004\n ldr r3, [r4]")
    board = machine(assemble(program, handler=15).replace(b"\x63\x21", b"\xff\x21"))
    finish(board)
    assert board.time.cycles < 60
    assert board.time.fs >= 256 * FS // board.time.hz


IN_AN_IT_BLOCK = """
 ldr r0, =0x20010000
 movs r4, #0
 cmp r0, r0
 itt eq
 ldreq r1, [r0]
 streq r0, [r0, #4]
 cmp r0, #0
 b 1f
 nop
1: adds r4, #1
 adds r4, #2
 bkpt 0
"""


@pytest.mark.parametrize("counting", list(Counting))
def test_the_first_access_to_a_page_may_be_in_an_it_block(counting: Counting) -> None:
    """Unicorn would take what comes in the next block for a part of it."""
    board = machine(assemble(IN_AN_IT_BLOCK))
    board.core.count(counting)
    assert stopped(board, 10**9) is Stop.BREAKPOINT
    assert board.core.register(4) == 3


REWRITTEN = """
 ldr r0, =0x20000000
 ldr r1, =0x47703001
 str r1, [r0]
 ldr r1, =0x47703002
 ldr r2, =0x20000001
 movs r3, #0
 ldr r6, =0x20000800
1: mov r4, r0
 movs r0, #0
 blx r2
 adds r3, r0
 mov r0, r4
 str r3, [r6]
 str r1, [r0]
 cmp r3, #11
 blo 1b
 bkpt 0
"""


def test_code_that_is_written_anew_runs_anew() -> None:
    """In a page with data: it gives 1 at first, then 2."""
    board = machine(assemble(REWRITTEN))
    assert stopped(board, 10**9) is Stop.BREAKPOINT
    assert board.core.register(3) == 11


def test_an_access_that_fails_in_a_memory_tells_its_address() -> None:
    """Where the protection unit forbids it: elsewhere in a memory nothing is watched for."""
    board = machine(assemble(FAULT.format(address=0x2000_4010, act="ldr r2, [r0]"), hard=3))
    guard = [(0xD98, 0), (0xD9C, 0x2000_4000), (0xDA0, 0x1000_0017), (0xD94, 5)]
    for offset, value in guard:
        board.protection.write(offset, value)
    finish(board)
    assert board.core.register(5) == 0x82
    assert board.core.register(6) == 0x2000_4010


FAULT = """
 ldr r0, ={address}
 movs r1, #1
 {act}
 bkpt 0
hard:
 ldr r4, =0xE000ED28
 ldr r5, [r4]
 ldr r6, [r4, #0xC]
 ldr r7, [r4, #0x10]
 bkpt 1
"""


@pytest.mark.parametrize(
    ("address", "act", "status", "where"),
    [
        (0x3000_0000, "ldr r2, [r0]", 0x8200, 7),  # nothing is there: a precise bus fault
        (0x0000_1000, "str r1, [r0]", 0x0082, 6),  # flash
        (0x0000_1000, "udf 1", 0x1_0000, None),
        (0x3000_0001, "bx r0", 0x0100, None),
    ],
)
def test_a_bad_access_is_a_fault_with_its_status(
    address: int, act: str, status: int, where: int | None
) -> None:
    board = machine(assemble(FAULT.format(address=address, act=act), hard=3))
    finish(board)
    assert board.core.exception == 3
    assert board.core.register(5) == status
    assert where is None or board.core.register(where) == address


def test_a_fault_within_the_handler_of_faults_restarts_the_board() -> None:
    program = "ldr r0, =0x30000000\n ldr r1, [r0]\n bkpt 0\nhard: ldr r1, [r0]\n bkpt 1"
    board = machine(assemble(program, hard=3))
    finish(board, lambda: any("locked up" in line for line in board.lines))
    assert board.core.exception == 0


def test_the_protection_unit_guards_null_pointers() -> None:
    """As the firmware sets it up: 4 KB from 0, without any access."""
    program = """
 b.w far
 .org 0x2000
far: ldr r0, =0xE000ED98
 movs r1, #0
 str r1, [r0]
 str r1, [r0, #4]
 ldr r1, =0x10000017
 str r1, [r0, #8]
 movs r1, #5
 str r1, [r0, #-4]
 movs r0, #0
 ldr r1, [r0, #16]
 bkpt 0
hard: ldr r4, =0xE000ED28
 ldr r5, [r4]
 bkpt 1
"""
    board = machine(assemble(program, hard=3))
    finish(board)
    assert board.core.register(5) == 0x82
    assert "fault: read of 0x00000010" in board.lines[0]


def test_a_register_that_nobody_models_is_logged_once() -> None:
    program = (
        "ldr r0, =0x40009000\n ldr r1, [r0, #4]\n str r1, [r0, #4]\n ldr r1, [r0, #4]\n bkpt 0"
    )
    board = machine(assemble(program))
    finish(board)
    logged = [line for line in board.lines if "not modelled" in line]
    assert logged == ["not modelled: 0x40009000+0x004 at 0x00000202"]
