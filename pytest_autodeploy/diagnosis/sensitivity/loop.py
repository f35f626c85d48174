"""A model whose variables lead from operators behind a changed one back to those before it.

It cannot be cut there: what comes out of the changed operator changes what is before it in the next
inference. So its variables become plain inputs and outputs, which are handed on from one inference
to the next, and the whole model runs in two parts each time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pytest_autodeploy.base.errors import ModelError
from pytest_autodeploy.diagnosis.sensitivity.changes import changeable, changed
from pytest_autodeploy.model.execution import called_subgraphs
from pytest_autodeploy.model.parse import parse
from pytest_autodeploy.model.rewrite import rewritten
from pytest_autodeploy.reference.interpreters import Tflm
from pytest_autodeploy.sim.pieces import main_operators, readable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_autodeploy.model.graph import Model, Operator, Option

    Array = NDArray[Any]
    Values = Mapping[int, Array]
    Variable = tuple[Option, Option]

READ, ASSIGN, HANDLE, ONCE = "READ_VARIABLE", "ASSIGN_VARIABLE", "VAR_HANDLE", "CALL_ONCE"


@dataclass(frozen=True)
class _Part:
    """Some operators as a model, and the tensors of the whole that it reads and makes."""

    model: Model
    reads: tuple[int, ...]
    makes: tuple[int, ...]


class Loop:
    """The operators up to ``position``, and those behind it, with the variables in between.

    ``first`` are the values of the right model in its first inference: what it reads of a variable
    there is what the variable starts with. Raises ModelError when the variables are used otherwise
    than read once, then assigned once, in the main subgraph.
    """

    def __init__(self, model: Model, position: int, first: Values) -> None:
        body = main_operators(model)
        self._model = model
        self._operator = body[position]
        self._reads = _variables(body, READ)
        self._assigns = _variables(body, ASSIGN)
        _check(body)
        self._initial = {name: first[_tensor(body[at], READ)] for name, at in self._reads.items()}
        self._state: dict[Variable, Array] = {}
        state = (READ, ASSIGN, HANDLE, ONCE)
        plain = [at for at, each in enumerate(body) if each.name not in state]
        self._head = _part(model, body, [at for at in plain if at <= position])
        self._tail = _part(model, body, [at for at in plain if at > position])
        self._runners: dict[str, Tflm] = {}
        self._body = body

    def begin(self) -> None:
        """Start from a fresh state."""
        self._state = dict(self._initial)
        parts = {"head": self._head, "tail": self._tail}
        self._runners = {
            name: Tflm(part.model.content) for name, part in parts.items() if part is not None
        }

    def run(self, values: Values, change: str, variant: int | None) -> list[Array]:
        """The outputs of an inference in which the operator gives something else."""
        now = {tensor.index: values[tensor.index] for tensor in self._model.inputs}
        for name, at in self._reads.items():
            now[_tensor(self._body[at], READ)] = self._state[name]
        self._run("head", self._head, now)
        for tensor in changeable(self._operator, change):
            now[tensor.index] = changed(change, now[tensor.index], variant)
        self._run("tail", self._tail, now)
        for name, at in self._assigns.items():
            self._state[name] = now[_tensor(self._body[at], ASSIGN)]
        return [now[tensor.index] for tensor in self._model.outputs]

    def _run(self, name: str, part: _Part | None, now: dict[int, Array]) -> None:
        if part is None:
            return
        runner = self._runners[name]
        runner.infer([now[index] for index in part.reads])
        now |= dict(zip(part.makes, runner.outputs(), strict=True))


def _tensor(operator: Operator, name: str) -> int:
    """What READ_VARIABLE makes, and what ASSIGN_VARIABLE stores."""
    tensor = operator.outputs[0] if name == READ else operator.inputs[1]
    assert tensor is not None
    return tensor.index


def _variables(body: Sequence[Operator], name: str) -> dict[Variable, int]:
    """The positions of the operators of that name, by the variable that they use."""
    handles = {
        operator.outputs[0].index: (operator.options["container"], operator.options["shared_name"])
        for operator in body
        if operator.name == HANDLE
    }
    found: dict[Variable, int] = {}
    for at, operator in enumerate(body):
        if operator.name == name:
            handle = operator.inputs[0]
            variable = None if handle is None else handles.get(handle.index)
            if variable is None or variable in found:
                raise ModelError(f"a variable is used by several {name}, or has no {HANDLE}")
            found[variable] = at
    return found


def _check(body: Sequence[Operator]) -> None:
    reads, assigns = _variables(body, READ), _variables(body, ASSIGN)
    in_order = all(name in reads and reads[name] < at for name, at in assigns.items())
    if not in_order or any(each.name != ONCE and called_subgraphs(each) for each in body):
        raise ModelError("its variables are not read once and then assigned once")


def _part(model: Model, body: Sequence[Operator], positions: Sequence[int]) -> _Part | None:
    if not positions:
        return None
    inside = [body[at] for at in positions]
    known = readable(model)
    makes = dict.fromkeys(t.index for each in inside for t in each.outputs if t.index in known)
    read = (t for each in inside for t in each.inputs if t is not None and not t.constant)
    reads = dict.fromkeys(tensor.index for tensor in read if tensor.index not in makes)
    content = rewritten(
        model, operators=positions, inputs=[*reads], outputs=[*makes], with_subgraphs=False
    )
    part = replace(parse(model.path, content), name=model.name)
    return _Part(part, tuple(reads), tuple(makes))
