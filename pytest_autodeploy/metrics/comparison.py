"""The outcome of a comparison: a row per metric and per layer, and what could not be compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

State = Literal["regression", "not comparable", "no baseline", "improved", "within"]
STATES: tuple[State, ...] = ("regression", "not comparable", "no baseline", "improved", "within")
"""Of a comparison, worst first."""


@dataclass(frozen=True)
class Row:
    """One metric or layer, before and now; None where a layer is new or gone.

    ``worse`` is the change towards the worse direction, negative for an improvement; ``allowed``
    is the most that it may be, ``by`` what: ``percentage``, ``floor`` or ``repeats``. ``state`` is
    ``regression``, ``improved`` or ``within``, of layers also ``new`` and ``gone``.
    """

    name: str
    unit: str
    source: str
    baseline: float | None
    now: float | None
    worse: float
    allowed: float
    by: str
    state: str


@dataclass(frozen=True)
class Comparison:
    """All rows of a comparison with the baseline in ``file``.

    ``reasons`` say why something cannot be compared, ``missing`` what the baseline does not have,
    ``graph`` how the layers changed. ``baseline_sha256`` is the hash of the model of the baseline;
    ``model_changed`` says that another one was measured.
    """

    state: State
    file: str
    rows: tuple[Row, ...] = ()
    layers: tuple[Row, ...] = ()
    reasons: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    graph: str = ""
    baseline_sha256: str = ""
    model_changed: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Plain data for reports and for crossing process borders."""
        plain = asdict(self)
        return {k: list(v) if isinstance(v, tuple) else v for k, v in plain.items()}


def merged(comparisons: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """One comparison, as plain data, of those of all tests of a model on a board.

    Of a metric the last row counts, and of layers the last that were judged.
    """
    if not comparisons:
        return None
    rows = {row["name"]: row for each in comparisons for row in each["rows"]}
    result = dict(comparisons[-1])
    result["state"] = min((each["state"] for each in comparisons), key=STATES.index)
    result["rows"] = [rows[name] for name in sorted(rows)]
    for each in comparisons:
        if each["layers"]:
            result |= {"layers": each["layers"], "graph": each["graph"]}
    for key in ("reasons", "missing"):
        result[key] = list(dict.fromkeys(text for each in comparisons for text in each[key]))
    return result
