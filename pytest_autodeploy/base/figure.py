"""One line of a report."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """One line of a report: what, how much, from which source, and what to know about it.

    ``exact`` is the value to be compared digit by digit, "" where ``value`` is that already.
    """

    label: str
    value: str
    source: str = ""
    note: str = ""
    exact: str = ""

    @property
    def remark(self) -> str:
        """What stands behind value and source."""
        return "; ".join(part for part in (self.exact, self.note) if part)
