"""How many instructions a run of unicorn has executed, while it runs."""

from __future__ import annotations

import ctypes
import functools
import itertools
from typing import Any, Protocol

_STRUCT_BYTES = 4096
_WORD = 8
_MAGIC = 0x5EED_C0DE
"""A limit that no other word of unicorn's structure holds by chance."""


class InstructionCounter(Protocol):
    """Counts the instructions of one call of ``emu_start``, and ends it."""

    def begin(self, budget: int) -> int:
        """Start at 0, with so many to run; gives the ``count`` for unicorn, 0 for none."""

    def executed(self) -> int:
        """Instructions since ``begin``, with the one that runs."""

    def total(self) -> int:
        """Instructions of a run that is over."""

    @property
    def spent(self) -> bool:
        """Whether a run that is over ended for the count, and not by itself."""

    def may_access(self) -> bool:
        """Whether the access to a peripheral that has begun is done; else the run ends with it."""

    def end(self) -> None:
        """End the run behind the present instruction, or soon after it.

        Not with ``emu_stop``: from within an access that leaves the instruction undone.
        """

    def close(self) -> None:
        """Take back what was put into the CPU."""


class UnicornsOwn:
    """Unicorn counts by itself when it is given a limit, but does not tell.

    The count lies before the limit in its structure (``emu_counter``, ``emu_count`` of uc_priv.h);
    where that is is found out with a limit that is known, and believed when two counts are right.
    What an IT block skips is not counted: some 2 % of TFLM's kernels.
    """

    def __init__(self, address: int) -> None:
        self._count = ctypes.c_uint64.from_address(address)
        self._limit = ctypes.c_uint64.from_address(address + _WORD)
        self._budget = 0

    def begin(self, budget: int) -> int:
        self._count.value, self._budget = 0, budget
        return budget

    def executed(self) -> int:
        return self._count.value

    def total(self) -> int:
        """What unicorn stops at is counted, too; from within an IT block it gets out first."""
        return self._count.value - (self._count.value > self._limit.value)

    @property
    def spent(self) -> bool:
        return self.total() >= self._budget

    def may_access(self) -> bool:
        return True

    def end(self) -> None:
        self._limit.value = self._count.value

    def close(self) -> None:
        """Nothing was."""


class Blocks:
    """Counts every instruction of every block that runs, as QEMU does. Some 6 times as slow.

    A block is decoded when it is first seen: Thumb-2 has instructions of 2 and of 4 bytes.
    """

    def __init__(self, uc: Any) -> None:
        from unicorn import UC_HOOK_BLOCK

        self._uc = uc
        self._sizes: dict[int, int] = {}
        self._executed = self._budget = 0
        self._hook = uc.hook_add(UC_HOOK_BLOCK, self._block)

    def begin(self, budget: int) -> int:
        self._executed, self._budget = 0, budget
        return 0

    def executed(self) -> int:
        return self._executed

    def total(self) -> int:
        return self._executed

    @property
    def spent(self) -> bool:
        return self._executed >= self._budget

    def may_access(self) -> bool:
        return True

    def end(self) -> None:
        self._budget = 0

    def close(self) -> None:
        self._uc.hook_del(self._hook)

    def _block(self, uc: Any, address: int, size: int, _data: object) -> None:
        if self._executed >= self._budget:
            uc.emu_stop()
            return
        try:
            self._executed += self._sizes[address << 12 | size]
        except KeyError:
            count = thumb_instructions(bytes(uc.mem_read(address, size)))
            self._sizes[address << 12 | size] = count
            self._executed += count


def thumb_instructions(code: bytes) -> int:
    """How many instructions a piece of Thumb-2 code has (Armv7-M ARM, A5.1).

    A halfword that begins with 0b11101, 0b11110 or 0b11111 is the first of two.
    """
    at = count = 0
    while at < len(code):
        at += 4 if code[at + 1] >> 3 in (0b11101, 0b11110, 0b11111) else 2
        count += 1
    return count


def fast_counter(uc: Any) -> InstructionCounter | None:
    """Unicorn's own counter of a CPU, None where it is not found."""
    offset = _find_count()
    base = _structure(uc)
    return UnicornsOwn(base + offset) if offset is not None and base else None


def _structure(uc: Any) -> int:
    """Address of unicorn's structure, 0 when the binding does not tell."""
    handle = getattr(uc, "_uch", None)
    return int(getattr(handle, "value", handle) or 0)


@functools.cache
def _find_count() -> int | None:
    """Where the count lies in unicorn's structure, from two runs of a CPU made for that."""
    first, second = (set(_candidates(length)) for length in (4, 7))
    both = first & second
    return both.pop() if len(both) == 1 else None


def _candidates(length: int) -> list[int]:
    """Offsets of a word of ``length`` before the limit, read by the instruction of that number."""
    import unicorn
    from unicorn import arm_const as arm

    nop, load = b"\x00\xbf", b"\x08\x68"  # ldr r0, [r1]
    uc: Any = unicorn.Uc(unicorn.UC_ARCH_ARM, unicorn.UC_MODE_THUMB | unicorn.UC_MODE_MCLASS)
    uc.ctl_set_cpu_model(arm.UC_CPU_ARM_CORTEX_M4)
    uc.mem_map(0, 0x1000)
    uc.mem_write(0, nop * (length - 1) + load + nop * 4)
    found: list[int] = []

    def read(_uc: Any, _offset: int, _size: int, _data: object) -> int:
        base = _structure(uc)
        if not base:
            return 0
        words = (ctypes.c_uint64 * (_STRUCT_BYTES // _WORD)).from_address(base)
        pairs = itertools.pairwise(words)
        found.extend(n * _WORD for n, pair in enumerate(pairs) if pair == (length, _MAGIC))
        return 0

    uc.mmio_map(0x4000_0000, 0x1000, read, None, lambda *_: None, None)
    uc.reg_write(arm.UC_ARM_REG_R1, 0x4000_0000)
    uc.emu_start(1, 2 * length + 4, count=_MAGIC)
    return found
