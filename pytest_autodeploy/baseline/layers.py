"""Which layer of a model is which of another version of it: by operator and position."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from difflib import SequenceMatcher

from pytest_autodeploy.baseline.format import LayerTime

Pair = tuple[int | None, int | None]
"""Numbers of a layer in the baseline and now; None where it is gone or new."""


def match_layers(baseline: Sequence[LayerTime], now: Sequence[LayerTime]) -> list[Pair]:
    """Pair the layers of two graphs in running order.

    The same operators in the same order are paired by position. In another graph, layers with the
    same operator and MACs are anchors, and between them layers with the same operator are paired.
    """
    if [layer.operator for layer in baseline] == [layer.operator for layer in now]:
        return [(number, number) for number in range(len(now))]
    exact = [[(layer.operator, layer.macs) for layer in side] for side in (baseline, now)]
    pairs: list[Pair] = []
    for same, (b_from, b_to), (n_from, n_to) in _blocks(*exact):
        if same:
            pairs += zip(range(b_from, b_to), range(n_from, n_to), strict=True)
            continue
        names = [layer.operator for layer in baseline[b_from:b_to]]
        others = [layer.operator for layer in now[n_from:n_to]]
        pairs += [
            (b if b is None else b + b_from, n if n is None else n + n_from)
            for b, n in _by_name(names, others)
        ]
    return pairs


def graph_change(baseline: Sequence[LayerTime], now: Sequence[LayerTime]) -> str:
    """How the graph changed, in words; empty when the operators are the same."""
    pairs = match_layers(baseline, now)
    new = [f"#{n} {now[n].operator}" for b, n in pairs if b is None and n is not None]
    gone = [f"#{b} {baseline[b].operator}" for b, n in pairs if n is None and b is not None]
    if not new and not gone:
        return ""
    parts = [f"{text} {_list(names)}" for text, names in (("new", new), ("gone", gone)) if names]
    return f"the graph changed: {len(now)} layers, {len(baseline)} before; {'; '.join(parts)}"


def _by_name(baseline: Sequence[str], now: Sequence[str]) -> Iterator[Pair]:
    for same, (b_from, b_to), (n_from, n_to) in _blocks(baseline, now):
        if same:
            yield from zip(range(b_from, b_to), range(n_from, n_to), strict=True)
        else:
            yield from ((b, None) for b in range(b_from, b_to))
            yield from ((None, n) for n in range(n_from, n_to))


Span = tuple[int, int]


def _blocks(
    baseline: Sequence[Hashable], now: Sequence[Hashable]
) -> Iterator[tuple[bool, Span, Span]]:
    matcher = SequenceMatcher(None, baseline, now, autojunk=False)
    for kind, b_from, b_to, n_from, n_to in matcher.get_opcodes():
        yield kind == "equal", (b_from, b_to), (n_from, n_to)


def _list(names: Sequence[str], most: int = 5) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
