"""Signals that arrive one by one, each in pieces of its own size, made into chunks."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_autodeploy.power.meter import IN0, IN1, Chunk

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

SIGNALS = ("i", "v", "gpi0", "gpi1")


@dataclass(frozen=True)
class _Piece:
    first: int
    data: Array

    @property
    def end(self) -> int:
        return self.first + len(self.data)


class Aligned:
    """Collects pieces of the signals in `SIGNALS` and gives out what is there of all of them.

    What one signal lacks is left out of all, which shows as a gap in the ids.
    """

    def __init__(self) -> None:
        self._pieces: dict[str, deque[_Piece]] = {name: deque() for name in SIGNALS}

    def put(self, signal: str, first: int, data: Array) -> None:
        """Add samples of a signal, the first of which has the id ``first``."""
        if len(data):
            self._pieces[signal].append(_Piece(first, data))

    def chunks(self) -> Iterator[Chunk]:
        """What is complete by now."""
        while all(self._pieces.values()):
            heads = [pieces[0] for pieces in self._pieces.values()]
            first = max(piece.first for piece in heads)
            end = min(piece.end for piece in heads)
            if first < end:
                i, v, gpi0, gpi1 = (p.data[first - p.first : end - p.first] for p in heads)
                yield Chunk(first, i, v, gpi0 * IN0 | gpi1 * IN1)
            self._drop(end)

    def _drop(self, end: int) -> None:
        """Forget what is before ``end``."""
        for pieces in self._pieces.values():
            while pieces and pieces[0].end <= end:
                pieces.popleft()
            if pieces and pieces[0].first < end:
                head = pieces.popleft()
                pieces.appendleft(_Piece(end, head.data[end - head.first :]))
