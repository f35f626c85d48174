"""Accesses to memory: what makes unicorn store without a call each time, and which ones fail.

Unicorn 2.1 calls a helper for every store (`notdirty_write` in its cputlb.c) to a page that may be
executed, or where a hook waits for accesses that fail. An inference takes twice as long with it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

Span = tuple[int, int]
"""First and last address."""

PAGE_BYTES = 4096
_LAST = 0xFFFF_FFFF
_THUMB = 1 << 24


def tell_code_from_data(uc: Any) -> None:
    """A page that is loaded from or stored to is data, until something is fetched from it.

    What an access may not do is checked by unicorn all the same. To be called before anything else.
    """
    import unicorn
    from unicorn import arm_const as arm

    code = unicorn.UC_PROT_READ | unicorn.UC_PROT_EXEC
    data = unicorn.UC_PROT_READ | unicorn.UC_PROT_WRITE

    def fill(uc: Any, address: int, access: int, entry: Any, _data: object) -> bool:
        entry.paddr = address
        if access == unicorn.UC_MEM_FETCH:
            entry.perms = code
            return True
        entry.perms = data
        # Unicorn has set the state of the IT block that this instruction is in, as for an
        # exception, and goes on in the midst of a block, where it has to be 0.
        uc.reg_write(arm.UC_ARM_REG_EPSR, _THUMB)
        return True

    uc.ctl_set_page_size(PAGE_BYTES)
    uc.ctl_set_cpu_model(arm.UC_CPU_ARM_CORTEX_M4)
    uc.ctl_set_tlb_mode(unicorn.UC_TLB_VIRTUAL)
    uc.hook_add(unicorn.UC_HOOK_TLB_FILL, fill)


class BadAccesses:
    """Tells the ``last`` access that failed, its kind and its address, where it is watched for."""

    def __init__(self, uc: Any) -> None:
        self._uc = uc
        self._hooks: list[int] = []
        self._spans: list[Span] = []
        self.last: tuple[int, int] | None = None
        self.watch([(0, _LAST)])

    def watch(self, spans: Iterable[Span]) -> None:
        """Watch these addresses alone: all but those where every access is allowed."""
        import unicorn

        spans = list(spans)
        if spans == self._spans:
            return
        for hook in self._hooks:
            self._uc.hook_del(hook)
        kind, self._spans = unicorn.UC_HOOK_MEM_INVALID, spans
        self._hooks = [self._uc.hook_add(kind, self._note, None, *span) for span in spans]

    def _note(
        self, _uc: Any, access: int, address: int, _size: int, _value: int, _data: object
    ) -> bool:
        self.last = (access, address)
        return False


def outside(spans: Iterable[Span]) -> Iterator[Span]:
    """The addresses that are in none of these, which do not overlap."""
    edges = [-1, *itertools.chain.from_iterable(sorted(spans)), _LAST + 1]
    for before, after in zip(edges[::2], edges[1::2], strict=True):
        if before + 1 < after:
            yield before + 1, after - 1
