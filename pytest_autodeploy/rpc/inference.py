"""Inferences as a client sees them, and samples as it takes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

_BATCH = 64
"""So many samples are held as bytes at a time."""


@dataclass(frozen=True)
class Inferred:
    """One inference: its time in ticks of the board, and the bytes of each output."""

    ticks: int
    is_first: bool
    outputs: tuple[bytes, ...]


def batches(samples: Iterable[Sequence[bytes]]) -> Iterator[list[Sequence[bytes]]]:
    """The samples, some at a time."""
    left = iter(samples)
    while batch := list(islice(left, _BATCH)):
        yield batch


def split(data: bytes, sizes: Sequence[int]) -> tuple[bytes, ...]:
    """The parts of these sizes that ``data`` consists of."""
    parts = []
    start = 0
    for size in sizes:
        parts.append(data[start : start + size])
        start += size
    return tuple(parts)
