"""What the tests of a run have measured, put together per model, board and clock mode."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_autodeploy.base.text import one_line

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Measured:
    """A model on a board in one clock mode: plain facts, measurements and profile."""

    model: Mapping[str, Any]
    board: Mapping[str, Any]
    measurements: Sequence[Mapping[str, Any]]
    profile: Mapping[str, Any] | None
    passed: bool

    def as_record(self) -> dict[str, Any]:
        """As one record of a test."""
        return {
            "model": self.model,
            "board": self.board,
            "measurements": self.measurements,
            "profile": self.profile,
        }


def title_of(record: Record) -> str:
    """The model and board of a record, for people."""
    model, board = record["model"].get("id", ""), record["board"].get("id", "")
    return f"{one_line(model)} on {one_line(board)}"


def measured_by(records: Iterable[Record]) -> list[Measured]:
    """Put records together; of a metric, and of layers, those with the most repeats count.

    Records without a board that said what it is, such as those of failed set-ups, are left out.
    """
    groups: dict[tuple[str, str, str], list[Record]] = {}
    for record in records:
        if "clock_hz" in record["board"] and "npu" not in record:
            key = title_of(record), record["model"]["sha256"], record["board"]["clock"]
            groups.setdefault(key, []).append(record)
    return [
        Measured(
            group[-1]["model"],
            group[-1]["board"],
            _best(group),
            max(
                (r["profile"] for r in group if r["profile"]),
                key=lambda profile: int(profile["repeats"]),
                default=None,
            ),
            all(record["outcome"] == "passed" for record in group),
        )
        for group in groups.values()
    ]


def _best(records: Sequence[Record]) -> list[Mapping[str, Any]]:
    by_name: dict[str, Mapping[str, Any]] = {}
    for record in records:
        for item in record["measurements"]:
            kept = by_name.get(item["name"], item)
            better = item.get("repeats", 1) >= kept.get("repeats", 1)
            if better and math.isfinite(item["value"]):
                by_name[item["name"]] = item
    return [by_name[name] for name in sorted(by_name)]
