"""One line of a report."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """One line of a report: what, how much, from which source, and what to know about it."""

    label: str
    value: str
    source: str = ""
    note: str = ""
