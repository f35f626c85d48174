"""The outcome of a comparison: a row per metric and per layer, and what could not be compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

State = Literal["regression", "not comparable", "cannot tell", "no baseline", "improved", "within"]
STATES: tuple[State, ...] = get_args(State)
"""Of a comparison, worst first."""


@dataclass(frozen=True)
class Row:
    """One metric or layer, before and now; None where a layer is new or gone.

    ``worse`` is the change towards the worse direction, negative for an improvement; ``allowed``
    is the most that it may be, ``by`` what: ``percentage``, ``floor``, or what noise hides of
    ``repeats`` or ``starts``. ``threshold`` is the most that it may be without noise, ``low`` and
    ``high`` the bounds of the true change, None where the values have no noise. ``state`` is
    ``regression``, ``cannot tell``, ``improved`` or ``within``, of layers also ``new`` and
    ``gone``. ``note`` says what is remarkable about the repeats; ``more_starts`` are those of the
    board that it takes to be sure of a regression.
    """

    name: str
    unit: str
    source: str
    baseline: float | None
    now: float | None
    worse: float = 0.0
    allowed: float = 0.0
    by: str = ""
    state: str = "within"
    threshold: float = 0.0
    low: float | None = None
    high: float | None = None
    note: str = ""
    more_starts: int = 0


@dataclass(frozen=True)
class Comparison:
    """All rows of a comparison with the baseline in ``file``.

    ``reasons`` say why something cannot be compared, or without any baseline of the model the names
    of other models that have one; ``missing`` what the baseline does not have,
    ``graph`` how the layers changed. ``baseline_sha256`` is the hash of the model of the baseline;
    ``model_changed`` says that another one was measured, ``layers_judged`` that a layer can be a
    regression by itself.
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
    layers_judged: bool = False


def merge_comparisons(comparisons: Sequence[Comparison]) -> Comparison | None:
    """One comparison of those of all tests of a model on a board.

    Of a metric the last row counts, and of layers the last that were judged.
    """
    if not comparisons:
        return None
    rows = {row.name: row for each in comparisons for row in each.rows}
    with_layers = [each for each in comparisons if each.layers] or comparisons
    return replace(
        comparisons[-1],
        state=min((each.state for each in comparisons), key=STATES.index),
        rows=tuple(rows[name] for name in sorted(rows)),
        layers=with_layers[-1].layers,
        graph=with_layers[-1].graph,
        reasons=tuple(dict.fromkeys(text for each in comparisons for text in each.reasons)),
        missing=tuple(dict.fromkeys(text for each in comparisons for text in each.missing)),
    )
