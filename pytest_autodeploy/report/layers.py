"""The layers of a profile as columns of text, for the terminal and pytest-html."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_autodeploy.base.table import Column, table
from pytest_autodeploy.base.text import one_line
from pytest_autodeploy.base.units import group_digits, percent

if TYPE_CHECKING:
    from pytest_autodeploy.metrics.records.facts import StaticLayer
    from pytest_autodeploy.profile.records import Layer, LayerProfile


@dataclass(frozen=True)
class LayerRow:
    """A layer, or the sum of several; a static one, which has not run, has no ``us``."""

    number: str
    tag: str
    us: float | None
    macs: float | None
    cycles: float | None

    @property
    def weight(self) -> float:
        """How long it takes, or its MACs where that is not known."""
        return self.us or self.macs or 0


def layer_rows(layers: Iterable[Layer]) -> list[LayerRow]:
    """The layers of a profile."""
    return [LayerRow(str(each.index), each.tag, each.us, each.macs, each.cycles) for each in layers]


def static_rows(layers: Iterable[StaticLayer]) -> list[LayerRow]:
    """The layers of a model that was not profiled."""
    return [LayerRow(str(each.index), each.tag, None, each.macs, None) for each in layers]


def longest(rows: Sequence[LayerRow], limit: int) -> Sequence[LayerRow]:
    """The ``limit`` layers that take longest (MACs, where no time is known) in running order.

    The others are summed up in one row behind them.
    """
    if len(rows) <= limit:
        return rows
    ranked = sorted(range(len(rows)), key=lambda number: -rows[number].weight)
    kept = set(ranked[:limit])
    rest = [row for number, row in enumerate(rows) if number not in kept]
    return [*(row for number, row in enumerate(rows) if number in kept), _sum(rest)]


def layer_columns(rows: Sequence[LayerRow], source: str, total_us: float) -> list[Column]:
    """The table of layers: times and cycles are of ``source``, a share is of ``total_us``.

    Static layers get neither times nor cycles.
    """
    columns = [
        Column("#", [row.number for row in rows], right=True),
        Column("Layer", [one_line(row.tag, 60) for row in rows]),
    ]
    times = [row.us for row in rows if row.us is not None]
    if len(times) == len(rows):
        columns += [
            Column(
                f"us ({source})", [group_digits(us, _decimals(times)) for us in times], right=True
            ),
            Column("Share", [percent(us, total_us) for us in times], right=True),
        ]
    columns.append(Column("MACs (estimated)", [group_digits(row.macs) for row in rows], right=True))
    if any(row.cycles is not None for row in rows):
        cycles = [group_digits(row.cycles) for row in rows]
        columns.append(Column(f"Cycles ({source})", cycles, right=True))
    return columns


def total_us(rows: Iterable[LayerRow]) -> float:
    """Microseconds of all layers together."""
    return sum(row.us or 0.0 for row in rows)


def _sum(rest: Sequence[LayerRow]) -> LayerRow:
    def total(value: Callable[[LayerRow], float | None]) -> float | None:
        values = [value(row) for row in rest]
        known = [each for each in values if each is not None]
        return sum(known) if len(known) == len(values) else None

    return LayerRow(
        number="",
        tag=f"{len(rest)} more layers",
        us=total(lambda row: row.us),
        macs=total(lambda row: row.macs),
        cycles=total(lambda row: row.cycles),
    )


def _decimals(times: Sequence[float]) -> int:
    return 0 if all(us == round(us) for us in times) else 1


def layer_lines(profile: LayerProfile) -> list[str]:
    """The table of a profile, under a line that says which inference it is of."""
    rows = layer_rows(profile.layers)
    columns = layer_columns(rows, profile.source, total_us(rows))
    return [f"Layers ({profile.text})", *table(columns)]
