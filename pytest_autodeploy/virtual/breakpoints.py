"""Where a debugger stops a core: addresses, or the next instruction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Breakpoints:
    """``hit`` is called when one is reached, before its instruction; ``halt`` stops the core."""

    def __init__(self, uc: Any, pc: Callable[[], int], halt: Callable[[], None]) -> None:
        self._uc = uc
        self._pc = pc
        self._halt = halt
        self._hooks: dict[int, int] = {}
        self._step: int | None = None
        self._passed: int | None = None
        self.hit: Callable[[], None] = lambda: None

    def set(self, address: int, wanted: bool) -> None:
        """Stop at an address from now on, or no more."""
        if wanted and address not in self._hooks:
            self._hooks[address] = self._add(self._reached, address, address)
        elif not wanted and address in self._hooks:
            self._remove(self._hooks.pop(address))

    def clear(self) -> None:
        """Stop nowhere."""
        for address in list(self._hooks):
            self.set(address, wanted=False)
        self._end_step()

    def resume(self, *, step: bool) -> None:
        """Go on from here, past a breakpoint that is here; with ``step`` for an instruction."""
        here = self._pc()
        self._passed = here if step or here in self._hooks else None
        if step:
            self._step = self._add(self._stepped, 1, 0)

    def _add(self, reached: Callable[..., None], first: int, last: int) -> int:
        from unicorn import UC_HOOK_CODE

        hook = int(self._uc.hook_add(UC_HOOK_CODE, reached, None, first, last))
        self._uc.ctl_flush_tb()  # what was translated does not have it
        return hook

    def _remove(self, hook: int) -> None:
        self._uc.hook_del(hook)
        self._uc.ctl_flush_tb()

    def _end_step(self) -> None:
        if self._step is not None:
            hook, self._step = self._step, None
            self._remove(hook)

    def _stepped(self, _uc: Any, address: int, _size: int, _data: object) -> None:
        if address == self._passed:
            self._passed = None  # the instruction that was asked for
        else:
            self._halt()

    def _reached(self, uc: Any, address: int, size: int, data: object) -> None:
        if self._step is None:
            self._stepped(uc, address, size, data)

    def report(self) -> None:
        """After the core has halted."""
        self._end_step()
        self.hit()
