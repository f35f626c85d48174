"""The fewest inferences that notice all that a set notices."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TypeVar

K = TypeVar("K", bound=Hashable)

MOST_STEPS = 20_000
"""After so many steps of the exact search, the greedy answer stands."""


def greedy(noticed_by: Mapping[K, frozenset[int]]) -> list[int]:
    """Inferences in the order in which each adds most; together they notice all there is.

    ``noticed_by``: of each thing to notice, the inferences that do. Of equals the first is taken.
    """
    left = {thing: by for thing, by in noticed_by.items() if by}
    chosen: list[int] = []
    while left:
        counts: dict[int, int] = {}
        for by in left.values():
            for inference in by:
                counts[inference] = counts.get(inference, 0) + 1
        best = min(counts, key=lambda inference: (-counts[inference], inference))
        chosen.append(best)
        left = {thing: by for thing, by in left.items() if best not in by}
    return chosen


def fewest(noticed_by: Mapping[K, frozenset[int]]) -> tuple[list[int], bool]:
    """The fewest inferences that notice all, and whether no fewer can: the search has bounds."""
    needs = {by for by in noticed_by.values() if by}
    needs = {by for by in needs if not any(other < by for other in needs)}
    search = _Search(greedy(noticed_by))
    search.go([], sorted(needs, key=lambda by: (len(by), sorted(by))))
    return sorted(search.best), search.steps < MOST_STEPS


class _Search:
    """Branches over the inferences that notice what the fewest do."""

    def __init__(self, best: list[int]) -> None:
        self.best = best
        self.steps = 0

    def go(self, chosen: list[int], left: list[frozenset[int]]) -> None:
        self.steps += 1
        if not left:
            if len(chosen) < len(self.best):
                self.best = chosen
            return
        if len(chosen) + 1 >= len(self.best) or self.steps >= MOST_STEPS:
            return
        rarest = min(left, key=len)
        for inference in sorted(rarest, key=lambda each: -sum(each in by for by in left)):
            self.go([*chosen, inference], [by for by in left if inference not in by])
