"""What is installed is read once in a run of the tests, not in each inner run of pytest."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import PathDistribution
from typing import Any


def remember_installed() -> None:
    """Keep what each distribution says of itself: no test changes one that is installed.

    pytest asks all of them for plugins, files and versions at each start, which with the packages
    of the extra ``dev`` is a third of what an inner run costs that measures nothing.
    """
    for name in ("entry_points", "files", "metadata"):
        setattr(PathDistribution, name, _remembered(getattr(PathDistribution, name).fget))


def _remembered(read: Callable[[PathDistribution], Any]) -> property:
    known: dict[str, Any] = {}

    def answer(distribution: PathDistribution) -> Any:
        place = str(distribution._path)
        if place not in known:
            known[place] = read(distribution)
        return known[place]

    return property(answer)
