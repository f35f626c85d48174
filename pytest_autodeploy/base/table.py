"""Tables of text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Column:
    """A heading and one cell of text per row."""

    heading: str
    cells: Sequence[str]
    right: bool = False

    def padded(self) -> list[str]:
        """Heading and cells, all as wide as the widest."""
        texts = [self.heading, *self.cells]
        width = max(map(len, texts))
        return [text.rjust(width) if self.right else text.ljust(width) for text in texts]


def table(columns: Sequence[Column]) -> list[str]:
    """The lines of a table: headings, then a row per line, without spaces at the end."""
    cells = [column.padded() for column in columns]
    return ["  ".join(row).rstrip() for row in zip(*cells, strict=True)]
