"""``--evb-reserve``: what of a board's memories is kept for firmware and system."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from pytest_autodeploy.catalog.boards import MEMORIES, BoardSpec, Memory, UnknownBoard

SYNTAX = "MEMORY=SIZE with commas between, SIZE such as 10%, 85kb or 10%+85kb"

_PART = re.compile(r"(\d+(?:\.\d+)?)(%|kb)", re.IGNORECASE)
_MOST_PERCENT = 95.0


@dataclass(frozen=True)
class Reserve:
    """A share of a memory, in per cent, and bytes beside it."""

    percent: float = 0.0
    bytes: int = 0

    def __str__(self) -> str:
        return f"{self.percent!r}%+{self.bytes / 1024!r}kb"

    def of(self, whole: int) -> int:
        """Bytes of a memory of ``whole`` bytes that are reserved."""
        return whole - int(whole * (1 - self.percent / 100)) + self.bytes


Reserves = Mapping[str, Reserve]


def parse_reserves(text: str) -> tuple[tuple[str, Reserve], ...]:
    """The reserves of a text, by memory. Raises ValueError."""
    found: dict[str, Reserve] = {}
    for part in text.split(","):
        memory, equals, size = part.strip().lower().partition("=")
        if memory not in MEMORIES or not equals or memory in found:
            raise ValueError(f"{part.strip()!r} is not {SYNTAX}; memories: {', '.join(MEMORIES)}")
        found[memory] = _reserve(size)
    return tuple(found.items())


def _reserve(text: str) -> Reserve:
    percent, size = 0.0, 0
    for part in text.split("+"):
        match = _PART.fullmatch(part.strip())
        if match is None:
            raise ValueError(f"{text!r} is not a size such as 10%, 85kb or 10%+85kb")
        if match[2] == "%":
            percent += float(match[1])
        else:
            size += round(1024 * float(match[1]))
    if percent > _MOST_PERCENT:
        raise ValueError(f"{text!r} leaves too little: at most {_MOST_PERCENT:g}%")
    return Reserve(percent, size)


def with_reserves(spec: BoardSpec, reserves: tuple[tuple[str, Reserve], ...]) -> BoardSpec:
    """The board with these reserves in place of the catalog's.

    Raises UnknownBoard for a memory that it does not have, or of which nothing would be left.
    """
    if not reserves:
        return spec
    memories = dict(spec.memories)
    for name, reserve in reserves:
        if name not in memories:
            raise UnknownBoard(
                f"--evb-reserve: {spec.name} has no {name.upper()}",
                hint=f"its memories are {', '.join(memories)}",
            )
        memories[name] = Memory(memories[name].bytes, reserve.of(memories[name].bytes))
        if memories[name].usable <= 0:
            raise UnknownBoard(
                f"--evb-reserve leaves nothing of the {memories[name].bytes / 1024:,.1f} KB "
                f"{name.upper()} of {spec.name}",
                hint="reserve less",
            )
    return replace(spec, memories=MappingProxyType(memories))
