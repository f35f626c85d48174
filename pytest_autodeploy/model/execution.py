"""Execution order over subgraphs, and the work of the operators that call them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pytest_autodeploy.model.flatbuffer import Damaged
from pytest_autodeploy.model.graph import Operator

Bodies = Sequence[Sequence[Operator]]

_CALLED = {
    "CALL": ("subgraph",),
    "CALL_ONCE": ("init_subgraph_index",),
    "IF": ("then_subgraph_index", "else_subgraph_index"),
    "WHILE": ("cond_subgraph_index", "body_subgraph_index"),
}


def in_execution_order(bodies: Bodies) -> tuple[Operator, ...]:
    """All operators, numbered, with the MACs of callers filled in.

    The operators of a subgraph follow the first operator that calls it: then before else,
    condition before body. Subgraphs that nothing calls come last. Raises Damaged when a subgraph
    calls itself or one that is not there.
    """
    seen: set[int] = set()
    ordered: list[Operator] = []
    for subgraph in range(len(bodies)):
        if subgraph not in seen:
            ordered += _from(subgraph, bodies, seen, ())
    work: dict[int, int | None] = {}
    return tuple(
        replace(operator, index=index, macs=_macs(operator, bodies, work))
        for index, operator in enumerate(ordered)
    )


def called_subgraphs(operator: Operator) -> list[int]:
    """The subgraphs that an operator runs."""
    names = () if operator.custom else _CALLED.get(operator.name, ())
    return [int(operator.options[name]) for name in names]


def reached_subgraphs(operators: Sequence[Operator]) -> frozenset[int]:
    """Subgraph 0, which an inference runs, and those that it calls, directly or not."""
    calls: dict[int, set[int]] = {}
    for operator in operators:
        calls.setdefault(operator.subgraph, set()).update(called_subgraphs(operator))
    reached, new = {0}, {0}
    while new:
        new = {called for subgraph in new for called in calls.get(subgraph, ())} - reached
        reached |= new
    return frozenset(reached)


def _from(
    subgraph: int, bodies: Bodies, seen: set[int], callers: tuple[int, ...]
) -> Iterator[Operator]:
    """The operators of a subgraph and, behind its callers, of those that were not seen yet."""
    seen.add(subgraph)
    for operator in bodies[subgraph]:
        yield operator
        for called in called_subgraphs(operator):
            if called in (*callers, subgraph) or not 0 <= called < len(bodies):
                raise Damaged(f"subgraph {subgraph}: {operator.name} calls subgraph {called}")
            if called not in seen:
                yield from _from(called, bodies, seen, (*callers, subgraph))


def _macs(operator: Operator, bodies: Bodies, work: dict[int, int | None]) -> int | None:
    """MACs of an operator, with the subgraphs that it calls.

    CALL does the work of its subgraph. CALL_ONCE runs before the first inference, which costs an
    inference nothing. How often WHILE loops and where IF goes is not in the file: when there is
    any work in their subgraphs, it is unknown.
    """
    if operator.custom or operator.name not in _CALLED:
        return operator.macs
    if operator.name == "CALL_ONCE":
        return 0
    inside = _sum([_work(called, bodies, work) for called in called_subgraphs(operator)])
    return inside if operator.name == "CALL" or inside == 0 else None


def _work(subgraph: int, bodies: Bodies, work: dict[int, int | None]) -> int | None:
    if subgraph not in work:
        work[subgraph] = _sum([_macs(operator, bodies, work) for operator in bodies[subgraph]])
    return work[subgraph]


def _sum(macs: Sequence[int | None]) -> int | None:
    known = [value for value in macs if value is not None]
    return sum(known) if len(known) == len(macs) else None
