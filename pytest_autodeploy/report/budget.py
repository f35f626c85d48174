"""How much of what there is a model takes: of memories, and of what limits allow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_autodeploy.base.text import one_line
from pytest_autodeploy.base.units import si
from pytest_autodeploy.catalog.boards import catalog_specs

if TYPE_CHECKING:
    from pytest_autodeploy.base.measurement import Measurement
    from pytest_autodeploy.catalog.boards import BoardSpec
    from pytest_autodeploy.metrics.result import Result

_LIMITED = ("latency", "energy", "power")


@dataclass(frozen=True)
class Bar:
    """A value as a share of what there is; ``share`` is in per cent and may be above 100."""

    label: str
    text: str
    source: str
    share: float

    @property
    def over(self) -> bool:
        """Whether it is more than there is."""
        return self.share > 100

    @property
    def width(self) -> float:
        """What of the bar is filled, in per cent."""
        return round(min(max(self.share, 0.5), 100), 1)


def bars(result: Result) -> list[Bar]:
    """Arena and model in their memories, then latency, energy and power against their limits."""
    return [*_memories(result), *_limits(result)]


def _memories(result: Result) -> Iterator[Bar]:
    spec = _spec(result)
    by_name = {item.name: item for item in result.measurements}
    for label, name, memory in (
        ("Arena", "arena_used", result.board.arena_memory),
        ("Model", "model_size", result.board.model_memory),
    ):
        item = by_name.get(name)
        if item is None:
            continue
        if spec and memory and memory in spec.memories:
            yield _bar(label, item, spec.memories[memory].usable, memory.upper())
        elif name == "arena_used" and (given := by_name.get("arena_given")):
            yield _bar(label, item, given.value, "given")


def _limits(result: Result) -> Iterator[Bar]:
    seen = set()
    for row in result.verdicts:
        item = row.measurement
        if item is None or not row.bound or not item.name.startswith(_LIMITED):
            continue
        if (key := (item.name, row.bound)) not in seen:
            seen.add(key)
            label = one_line(item.name.replace("_", " ").capitalize())
            yield _bar(label, item, row.bound, "allowed")


def _bar(label: str, item: Measurement, whole: float, what: str) -> Bar:
    text = f"{si(item.value, item.unit)} of {si(whole, item.unit)} {what}"
    return Bar(label, text, item.source, round(100 * item.value / whole, 1))


def _spec(result: Result) -> BoardSpec | None:
    return next((spec for spec in catalog_specs() if spec.name == result.board.name), None)
