"""Blocks of registers that do no more than keep what is written."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_autodeploy.virtual.registers import Peripheral


class Storage(Peripheral):
    """Keeps values; ``names`` are those that firmware may use so, ``constants`` what some hold."""

    def __init__(
        self,
        name: str,
        names: Mapping[int, str] | None = None,
        constants: Mapping[int, int] | None = None,
    ) -> None:
        super().__init__(name)
        self.names = names or {}
        self._constants = dict(constants or {})

    def read(self, offset: int) -> int:
        constant = self._constants.get(offset)
        return self._stored(offset) if constant is None else constant
