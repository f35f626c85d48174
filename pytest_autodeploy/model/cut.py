"""A part of a model as a model of its own: the operators from one position to another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from pytest_autodeploy.base.errors import ModelError
from pytest_autodeploy.model.execution import called_subgraphs
from pytest_autodeploy.model.graph import Model, Operator, Tensor
from pytest_autodeploy.model.parse import parse
from pytest_autodeploy.model.rewrite import rewritten

_REMEDY = "cut the model at another operator"


def cut_model(model: Model, first: int = 0, last: int | None = None) -> Model:
    """The operators ``first`` to ``last`` (inclusive, positions in subgraph 0) as a model.

    Its inputs are the tensors that these operators read and do not make, in order of first use;
    from operator 0 on they are the model's own inputs. Its outputs are the tensors that they make
    and that later operators or the model's user need: the model's outputs first, in order, then
    the others as they are made; a part that starts at operator 0 also gives what ``last`` makes.
    Tensors keep their indices; what is not used is neither allocated nor has data. The name is
    ``name[first:last]``. Without ``last``, the part goes up to the model's end.

    Raises ModelError when there are no such operators, when they make nothing that is needed, when
    state (resource or other variables) would be shared across the cut, and for a model with
    compressed tensors.
    """
    body = [operator for operator in model.operators if operator.subgraph == 0]
    end = len(body) - 1 if last is None else last
    name = f"{model.name}[{first}:{end}]"
    if not 0 <= first <= end < len(body):
        raise ModelError(
            f"{name}: the model has operators 0 to {len(body) - 1}", hint="give two of them"
        )
    part = _Part(model, body, first, end)
    part.check_state(name)
    outputs = part.outputs()
    if not outputs:
        raise ModelError(f"{name}: these operators make nothing that is needed", hint=_REMEDY)
    content = rewritten(
        model,
        operators=range(first, end + 1),
        inputs=[tensor.index for tensor in part.inputs()],
        outputs=[tensor.index for tensor in outputs],
        with_subgraphs=any(called_subgraphs(operator) for operator in part.inside),
    )
    return replace(parse(model.path, content), name=name)


@dataclass(frozen=True)
class _Part:
    """The operators ``first`` to ``last`` of the ``body``, which is subgraph 0 of the model."""

    model: Model
    body: Sequence[Operator]
    first: int
    last: int

    @property
    def inside(self) -> Sequence[Operator]:
        return self.body[self.first : self.last + 1]

    @property
    def outside(self) -> Sequence[Operator]:
        return [*self.body[: self.first], *self.body[self.last + 1 :]]

    def inputs(self) -> list[Tensor]:
        if self.first == 0:
            return list(self.model.inputs)
        before = {*self.model.inputs, *_made(self.body[: self.first])}
        return [tensor for tensor in _read(self.inside) if tensor in before]

    def outputs(self) -> list[Tensor]:
        made = _made(self.inside)
        needed = set(_read(self.body[self.last + 1 :]))
        if self.first == 0:
            needed |= {*self.body[self.last].outputs}
        final = [tensor for tensor in self.model.outputs if tensor in made]
        return [*final, *(tensor for tensor in made if tensor in needed and tensor not in final)]

    def check_state(self, name: str) -> None:
        """Raise ModelError when operators inside and outside share state."""
        inside, outside = ({*_read(ops), *_made(ops)} for ops in (self.inside, self.outside))
        shared = [tensor for tensor in inside & outside if tensor.variable]
        if shared:
            text = ", ".join(sorted(repr(tensor.name) for tensor in shared))
            raise ModelError(f"{name}: the cut parts users of the variable {text}", hint=_REMEDY)
        stateful = self._subgraphs_with_resources()
        users = [
            {op.name for op in ops if _uses_resources(op) or stateful & {*called_subgraphs(op)}}
            for ops in (self.inside, self.outside)
        ]
        if all(users):
            kept, lost = (", ".join(sorted(names)) for names in users)
            raise ModelError(
                f"{name}: the cut parts users of resource variables: {kept} from {lost}",
                hint=f"{_REMEDY}, with all of them on one side",
            )

    def _subgraphs_with_resources(self) -> set[int]:
        """The subgraphs behind subgraph 0 that use resource variables, themselves or by calls."""
        calls = [(op.subgraph, {*called_subgraphs(op)}) for op in self.model.operators]
        found = {op.subgraph for op in self.model.operators if _uses_resources(op)}
        while more := {caller for caller, called in calls if called & found} - found:
            found |= more
        return found - {0}


def _uses_resources(operator: Operator) -> bool:
    tensors = (*operator.inputs, *operator.outputs)
    return any(tensor is not None and tensor.dtype == "resource" for tensor in tensors)


def _read(operators: Iterable[Operator]) -> list[Tensor]:
    """The tensors that the operators read, each once."""
    read = chain.from_iterable(operator.inputs for operator in operators)
    return list(dict.fromkeys(tensor for tensor in read if tensor is not None))


def _made(operators: Iterable[Operator]) -> list[Tensor]:
    """The tensors that the operators make, each once."""
    return list(dict.fromkeys(chain.from_iterable(operator.outputs for operator in operators)))
