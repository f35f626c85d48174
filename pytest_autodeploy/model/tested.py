"""Which part of a file is tested: the main subgraph, and what it calls."""

from __future__ import annotations

from pytest_autodeploy.model.execution import reached_subgraphs
from pytest_autodeploy.model.graph import Model, Operator


def tested_operators(model: Model) -> list[Operator]:
    """The operators that an inference may run, in execution order."""
    reached = reached_subgraphs(model.operators)
    return [operator for operator in model.operators if operator.subgraph in reached]


def untested_subgraphs(model: Model) -> list[int]:
    """The subgraphs that no inference runs."""
    reached = reached_subgraphs(model.operators)
    return [number for number in range(model.subgraphs) if number not in reached]


def tested_text(model: Model) -> str:
    """What is tested of a file with several entries; nothing when all of it is.

    TFLM runs subgraph 0, whatever the signatures of a file say.
    """
    untested = untested_subgraphs(model)
    if not untested:
        return ""
    others = ", ".join(_named(model, number) for number in untested)
    verb = "is" if len(untested) == 1 else "are"
    return f"tested is {_named(model, 0)}, which TFLM runs; {others} {verb} not tested"


def _named(model: Model, subgraph: int) -> str:
    keys = [repr(entry.key) for entry in model.signatures if entry.subgraph == subgraph]
    return f"subgraph {subgraph}" + (f" (signature {', '.join(keys)})" if keys else "")
