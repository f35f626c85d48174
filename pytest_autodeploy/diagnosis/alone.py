"""Every operator of a model on its own: what each gives on inputs that it is handed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import chain

from pytest_autodeploy.base.errors import ModelError
from pytest_autodeploy.model.execution import called_subgraphs
from pytest_autodeploy.model.graph import STATEFUL, Model, Operator, Tensor, bits_of
from pytest_autodeploy.model.parse import parse
from pytest_autodeploy.model.rewrite import rewritten


@dataclass(frozen=True)
class OperatorsAlone:
    """A model whose operators do not feed each other.

    Its inputs are the tensors ``reads`` and its outputs the tensors ``makes`` of the whole model,
    in order; those have the indices of the tensors that their operator reads.
    """

    model: Model
    reads: tuple[Tensor, ...]
    makes: Mapping[Tensor, frozenset[int]]


def operators_alone(model: Model) -> OperatorsAlone:
    """Part the operators of the main subgraph, so that one inference runs each on given inputs.

    Left out are operators that keep a state or have no output that can be read. Raises ModelError
    when none is left, and for what cannot be written again.
    """
    body = [operator for operator in model.operators if operator.subgraph == 0]
    positions = [at for at, operator in enumerate(body) if _can_be_alone(operator, model)]
    kept = [body[position] for position in positions]
    reads = _reads(kept)
    makes = {
        tensor: frozenset(read.index for read in _reads([operator]))
        for operator in kept
        for tensor in operator.outputs
    }
    name = f"{model.name}, operator by operator"
    if not reads:
        raise ModelError(f"{name}: every operator keeps a state")
    content = rewritten(
        model,
        operators=positions,
        inputs=[tensor.index for tensor in reads],
        outputs=[tensor.index for tensor in makes],
        with_subgraphs=any(called_subgraphs(operator) for operator in kept),
        parted=True,
    )
    return OperatorsAlone(replace(parse(model.path, content), name=name), reads, makes)


def any_alone(model: Model) -> bool:
    """Whether the model has an operator that can be run alone: one without state."""
    main = (operator for operator in model.operators if operator.subgraph == 0)
    return any(_can_be_alone(operator, model) for operator in main)


def _can_be_alone(operator: Operator, model: Model) -> bool:
    if not operator.outputs or not _reads([operator]) or operator.name in STATEFUL:
        return False
    if model.resource_variables and called_subgraphs(operator):
        return False
    touched = [tensor for tensor in (*operator.inputs, *operator.outputs) if tensor is not None]
    return all(tensor.constant or _is_plain(tensor) for tensor in touched)


def _is_plain(tensor: Tensor) -> bool:
    stateless = not tensor.variable and tensor.dtype != "resource"
    return stateless and not tensor.dynamic and bits_of(tensor.dtype) >= 8


def _reads(operators: list[Operator]) -> tuple[Tensor, ...]:
    read = chain.from_iterable(operator.inputs for operator in operators)
    return tuple(dict.fromkeys(tensor for tensor in read if tensor and not tensor.constant))
