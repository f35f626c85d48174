"""What a storm counts, and its table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class Tally:
    """The outcome of one storm; ``cases`` say of each bad end how to have it again."""

    name: str
    injected: int = 0
    hangs: int = 0
    wrong: int = 0
    foreign: int = 0
    left: int = 0
    recovered: int = 0
    seconds: float = 0.0
    cases: list[str] = field(default_factory=list)

    @property
    def clean(self) -> bool:
        """Whether nothing hung, nothing wrong was told as right, and no error was a foreign one."""
        return not (self.hangs or self.wrong or self.foreign or self.left)

    def case(self, words: str) -> None:
        """Remember a bad end."""
        self.cases.append(f"{self.name}: {words}")


HEAD = ("storm", "injected", "hangs", "told as right", "foreign", "left over", "recovered", "s")


def table(tallies: Sequence[Tally]) -> str:
    """All storms as lines of text."""
    rows = [HEAD, *map(_row, tallies)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD))]
    lines = [
        "  ".join(
            cell.ljust(width) if not number else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
    return "\n".join([*lines, *(case for tally in tallies for case in tally.cases)])


def _row(tally: Tally) -> tuple[str, ...]:
    counts = (tally.injected, tally.hangs, tally.wrong, tally.foreign, tally.left, tally.recovered)
    return (tally.name, *(f"{count:,}" for count in counts), f"{tally.seconds:.0f}")
