"""Tables of text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap


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


def table_within(columns: Sequence[Column], width: int) -> list[str]:
    """The lines of a table whose columns go on from the left as far as there is room.

    The entries of the others, but for empty ones, are told with their headings below each row.
    """
    count = len(columns)
    while count > 1 and max(map(len, table(columns[:count]))) > width:
        count -= 1
    heading, *lines = table(columns[:count])
    told = [heading]
    for number, line in enumerate(lines):
        told += [line, *_below(columns[count:], number, width)]
    return told


def _below(columns: Sequence[Column], number: int, width: int) -> list[str]:
    lines: list[str] = []
    for heading, entry in ((column.heading, column.cells[number]) for column in columns):
        text = f"{heading} {entry}"
        if entry in ("", "-"):
            continue
        if lines and len(f"{lines[-1]}, {text}") <= width:
            lines[-1] += f", {text}"
        else:
            lines += wrap(
                text,
                width,
                initial_indent="  ",
                subsequent_indent="  ",
                break_long_words=False,
                break_on_hyphens=False,
            )
    return lines
