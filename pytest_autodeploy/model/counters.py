"""A model that counts how often its subgraphs run: what WHILE and IF really did.

A tensor of counters goes through every subgraph: main starts it with zeros, each other subgraph
adds 1 at its place, WHILE carries it as one more loop variable, and both branches of IF give it on.
It comes out as one more output of the model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pytest_autodeploy.base.errors import ModelError
from pytest_autodeploy.model.execution import called_subgraphs
from pytest_autodeploy.model.graph import Model, Operator
from pytest_autodeploy.model.parse import parse
from pytest_autodeploy.model.tested import tested_operators

CONTROL_FLOW = frozenset(("IF", "WHILE"))


def has_control_flow(model: Model) -> bool:
    """Whether how often an operator runs is only known while the model runs."""
    return any(operator.name in CONTROL_FLOW for operator in tested_operators(model))


def with_counters(model: Model) -> Model:
    """The model with one more output, int32 [subgraphs]: how often each ran in an inference.

    The conditions of WHILE are not counted: each ran once more than its body, for every time that
    the WHILE ran. Tensors keep their indices. Raises ModelError when the file cannot be written
    again.
    """
    from ai_edge_litert import schema_py_generated as schema

    from pytest_autodeploy.model.rewrite import pack

    try:
        file = schema.ModelT.InitFromPackedBuf(model.content)
        _Counters(file, model).thread()
        content = pack(file, model.content)
    except Exception as error:
        raise ModelError(f"{model.name}: its loops cannot be counted: {error}") from error
    return replace(parse(model.path, content), name=model.name)


def executions(operators: Sequence[Operator], counts: Sequence[int]) -> Mapping[int, int]:
    """How often each subgraph ran, its conditions included; subgraph 0 once."""
    ran = {subgraph: int(count) for subgraph, count in enumerate(counts)}
    ran[0] = 1
    for operator in operators:  # in execution order: callers before what they call
        if operator.name == "WHILE":
            condition, body = called_subgraphs(operator)
            ran[condition] += ran[body] + ran[operator.subgraph]
    return ran


class _Counters:
    """Threads the counters through the operators of a file."""

    def __init__(self, file: Any, model: Model) -> None:
        self._file = file
        self._count = len(file.subgraphs)
        bodies = [
            [operator for operator in model.operators if operator.subgraph == subgraph]
            for subgraph in range(self._count)
        ]
        self._names = {
            (subgraph, place): operator.name
            for subgraph, body in enumerate(bodies)
            for place, operator in enumerate(body)
        }
        self._add = self._operator_code()
        loops = [operator for operator in model.operators if operator.name == "WHILE"]
        self._conditions = {called_subgraphs(operator)[0] for operator in loops}
        self._called = {
            called
            for operator in tested_operators(model)
            if operator.name in CONTROL_FLOW
            for called in called_subgraphs(operator)
        }
        run = {called_subgraphs(operator)[1] for operator in loops}
        inside = [op for op in model.operators if op.subgraph in self._conditions]
        if self._conditions & run or any(called_subgraphs(op) for op in inside):
            raise ValueError("a condition that runs loops or is the body of one")

    def thread(self) -> None:
        for number, subgraph in enumerate(self._file.subgraphs):
            if number == 0 or number in self._called:
                self._through(number, subgraph)
        self._file.metadata = self._file.metadataBuffer = self._file.signatureDefs = None

    def _through(self, number: int, subgraph: Any) -> None:
        if number == 0:
            current = self._constant(subgraph, [0] * self._count)
        else:
            current = self._tensor(subgraph)
            subgraph.inputs = [*subgraph.inputs, current]
        if number in self._conditions:  # it gives a bool only
            return
        operators: list[Any] = []
        if number:
            current = self._plus_one(number, subgraph, current, operators)
        for place, operator in enumerate(subgraph.operators or ()):
            operators.append(operator)
            if self._names[number, place] in CONTROL_FLOW:
                made = self._tensor(subgraph)
                operator.inputs = [*operator.inputs, current]
                operator.outputs = [*operator.outputs, made]
                current = made
        subgraph.operators = operators
        subgraph.outputs = [*subgraph.outputs, current]

    def _plus_one(self, number: int, subgraph: Any, current: int, operators: list[Any]) -> int:
        from ai_edge_litert import schema_py_generated as schema

        one = self._constant(subgraph, [int(place == number) for place in range(self._count)])
        made = self._tensor(subgraph)
        add = schema.OperatorT()
        add.opcodeIndex, add.inputs, add.outputs = self._add, [current, one], [made]
        add.builtinOptionsType = schema.BuiltinOptions.AddOptions
        add.builtinOptions = schema.AddOptionsT()
        operators.append(add)
        return made

    def _tensor(self, subgraph: Any, buffer: int = 0) -> int:
        from ai_edge_litert import schema_py_generated as schema

        tensor = schema.TensorT()
        tensor.shape, tensor.type, tensor.buffer = [self._count], schema.TensorType.INT32, buffer
        tensor.name, tensor.hasRank = "counters", True
        subgraph.tensors.append(tensor)
        return len(subgraph.tensors) - 1

    def _constant(self, subgraph: Any, values: Sequence[int]) -> int:
        from ai_edge_litert import schema_py_generated as schema

        data = b"".join(value.to_bytes(4, "little") for value in values)
        self._file.buffers.append(schema.BufferT(data=list(data)))
        return self._tensor(subgraph, len(self._file.buffers) - 1)

    def _operator_code(self) -> int:
        from ai_edge_litert import schema_py_generated as schema

        code = schema.OperatorCodeT()
        code.builtinCode = code.deprecatedBuiltinCode = schema.BuiltinOperator.ADD
        code.version = 1
        self._file.operatorCodes.append(code)
        return len(self._file.operatorCodes) - 1
