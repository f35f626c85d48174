"""The instructions of an image that may unmask interrupts: the core has to look up behind them.

Unicorn tells of no change of PRIMASK, BASEPRI and FAULTMASK.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Callable, Iterable
from typing import Any

_CPSIE = (0xB661, 0xB662, 0xB663)
_MSR, _MSR_MASKS = 0xF380, range(0x8810, 0x8814)
"""MSR (Armv7-M ARM, B5.2.3) to PRIMASK, BASEPRI, BASEPRI_MAX and FAULTMASK."""


def unmasking(code: bytes) -> list[int]:
    """Offsets of what comes behind such instructions, or behind what looks like one."""
    halfwords = struct.unpack(f"<{len(code) // 2}H", code[: len(code) // 2 * 2])
    found = [2 * n + 2 for n, word in enumerate(halfwords) if word in _CPSIE]
    pairs = itertools.pairwise(halfwords)
    found += [2 * n + 4 for n, (a, b) in enumerate(pairs) if a & 0xFFF0 == _MSR and b in _MSR_MASKS]
    return found


def watch(uc: Any, pieces: Iterable[tuple[int, bytes]], behind: Callable[[], None]) -> None:
    """Call ``behind`` after each such instruction in pieces of an image.

    Code that a program copies elsewhere is not watched. Unicorn ends a block with such an
    instruction. Hooks of code would be looked through at each instruction that is counted: half of
    the time of an inference.
    """
    from unicorn import UC_HOOK_BLOCK

    def hook(_uc: Any, _address: int, _size: int, _data: object) -> None:
        behind()

    for base, data in pieces:
        for offset in unmasking(data):
            uc.hook_add(UC_HOOK_BLOCK, hook, begin=base + offset, end=base + offset)
