"""From the bytes of a `.tflite` file to the Model."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from pathlib import Path

from pytest_autodeploy.base.errors import ModelError
from pytest_autodeploy.model.execution import in_execution_order
from pytest_autodeploy.model.flatbuffer import FIELDS, Damaged, Flatbuffer, Table
from pytest_autodeploy.model.graph import Model, Operator, Quantization, Signature, Tensor
from pytest_autodeploy.model.macs import custom_macs, macs
from pytest_autodeploy.model.operators import resolver_method
from pytest_autodeploy.model.options import read_options
from pytest_autodeploy.model.schema_names import BUILTIN_OPERATORS, TENSOR_TYPES, name_of

SCHEMA_VERSION = 3
_CUSTOM = 32


class UnsupportedVersion(ModelError):
    """The file has another version of TFLite's schema."""


def parse(path: Path, content: bytes) -> Model:
    """The model in the content of the file at path; raises Damaged and UnsupportedVersion."""
    root = Flatbuffer(content).root("Model")
    version = root.whole("version", "I")
    if version != SCHEMA_VERSION:
        raise UnsupportedVersion(str(version))
    subgraphs = root.tables("subgraphs", "SubGraph")
    if not subgraphs:
        raise Damaged("the model has no subgraph")
    codes = [_operator_code(table) for table in root.tables("operator_codes", "OperatorCode")]
    buffers = _Buffers(root, content)
    tensors = [buffers.tensors_of(table, index) for index, table in enumerate(subgraphs)]
    bodies = [
        [_operator(op, at, tensors[at], codes) for op in table.tables("operators", "Operator")]
        for at, table in enumerate(subgraphs)
    ]
    operators = in_execution_order(bodies)
    return Model(
        name=path.stem,
        path=path,
        content=content,
        sha256=hashlib.sha256(content).hexdigest(),
        operators=operators,
        tensors=tuple(tensor for group in tensors for tensor in group),
        inputs=_pick(subgraphs[0], "inputs", tensors[0]),
        outputs=_pick(subgraphs[0], "outputs", tensors[0]),
        parameters=sum(buffers.parameters.values()),
        resource_variables=_resource_variables(operators),
        subgraphs=len(subgraphs),
        description=root.text("description"),
        signatures=tuple(
            Signature(table.text("signature_key"), table.whole("subgraph_index", "I"))
            for table in root.tables("signature_defs", "SignatureDef")
        ),
    )


class _Buffers:
    """The constant data of the file, and the tensors that are made of it."""

    def __init__(self, root: Table, content: bytes) -> None:
        self._end = len(content)
        self._sizes = [self._size(table) for table in root.tables("buffers", "Buffer")]
        metadata = {table.text("name") for table in root.tables("metadata", "Metadata")}
        self._compressed = "COMPRESSION_METADATA" in metadata
        self.parameters: dict[int, int] = {}

    def _size(self, table: Table) -> int:
        """Bytes of a buffer: within the flatbuffer, or behind it when that exceeds 2 GB."""
        data = table.vector("data", 1)
        if data is not None:
            return data.length
        offset, size = table.whole("offset", "Q"), table.whole("size", "Q")
        if offset + size > self._end:
            raise Damaged(f"{table.where}: outside of the file")
        return size

    def tensors_of(self, subgraph: Table, index: int) -> list[Tensor]:
        """The tensors of a subgraph."""
        tables = subgraph.tables("tensors", "Tensor")
        return [self._tensor(table, at, index) for at, table in enumerate(tables)]

    def _tensor(self, table: Table, index: int, subgraph: int) -> Tensor:
        buffer = table.whole("buffer", "I")
        if buffer and buffer >= len(self._sizes):
            raise Damaged(f"{table.where}: there is no buffer {buffer}")
        size = self._sizes[buffer] if buffer else 0
        shape = table.wholes("shape")
        tensor = Tensor(
            index=index,
            subgraph=subgraph,
            name=table.text("name"),
            shape=shape,
            dtype=_dtype(table),
            quantization=_quantization(table, shape),
            dynamic=_dynamic(table, shape),
            constant=size > 0,
            variable=bool(table.whole("is_variable", "B")),
        )
        dense = not self._compressed and not table.has("sparsity")
        if size and dense and size < tensor.bytes:
            raise Damaged(f"{table.where}: its data has {size} of {tensor.bytes} bytes")
        if size and ("float" in tensor.dtype or tensor.quantization):
            self.parameters[buffer] = tensor.elements
        return tensor


def _dtype(table: Table) -> str:
    code = table.whole("type", "b")
    name = name_of(TENSOR_TYPES, code)
    if name is None:
        raise Damaged(f"{table.where}: there is no type {code}")
    return name.lower()


def _dynamic(table: Table, shape: Sequence[int]) -> bool:
    if any(size < -1 for size in shape):
        raise Damaged(f"{table.where}: its shape is {list(shape)}")
    signature = table.wholes("shape_signature")
    if signature and len(signature) != len(shape):
        raise Damaged(f"{table.where}: its shape and its shape signature differ in length")
    fixed_batch = bool(signature) and signature[0] == -1 and shape[0] == 1
    return -1 in shape or -1 in signature[1 if fixed_batch else 0 :]


def _quantization(table: Table, shape: Sequence[int]) -> Quantization | None:
    values = table.table("quantization", FIELDS["Quantization"])
    scales = values.numbers("scale", "f") if values else ()
    if values is None or not scales:
        return None
    zero_points = values.wholes("zero_point", "q") or (0,) * len(scales)
    axis = values.whole("axis", "i")
    if len(shape) == 1 and not 0 <= axis < 1:
        axis = 0  # converters write a filter's axis to its bias, too, and TFLM does not look
    fits = len(scales) == 1 or (0 <= axis < len(shape) and shape[axis] in (-1, len(scales)))
    if not fits or len(zero_points) != len(scales) or not all(map(math.isfinite, scales)):
        raise Damaged(f"{values.where}: it does not fit the tensor")
    return Quantization(scales, zero_points, axis)


def _operator_code(table: Table) -> tuple[str, bool]:
    """The name of an operator and whether it is a custom one.

    The code was one byte once; writers of today fill both fields, and the larger one counts.
    """
    code = max(table.whole("deprecated_builtin_code", "b"), table.whole("builtin_code", "i"))
    if code == _CUSTOM:
        return table.text("custom_code") or "CUSTOM", True
    if code < 0:
        raise Damaged(f"{table.where}: it is {code}")
    return name_of(BUILTIN_OPERATORS, code) or f"BUILTIN_{code}", False


def _operator(
    table: Table, subgraph: int, tensors: Sequence[Tensor], codes: Sequence[tuple[str, bool]]
) -> Operator:
    opcode = table.whole("opcode", "I")
    if opcode >= len(codes):
        raise Damaged(f"{table.where}: there is no operator code {opcode}")
    name, custom = codes[opcode]
    inputs = tuple(
        None if index == -1 else _at(table, index, tensors) for index in table.wholes("inputs")
    )
    outputs = _pick(table, "outputs", tensors)
    options = {} if custom else read_options(table, name)
    return Operator(
        index=-1,  # in_execution_order numbers it
        subgraph=subgraph,
        name=name,
        custom=custom,
        resolver=resolver_method(name, custom=custom),
        inputs=inputs,
        outputs=outputs,
        macs=custom_macs(name) if custom else macs(name, inputs, outputs, options),
        options=options,
    )


def _pick(table: Table, field: str, tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    return tuple(_at(table, index, tensors) for index in table.wholes(field))


def _at(table: Table, index: int, tensors: Sequence[Tensor]) -> Tensor:
    if not 0 <= index < len(tensors):
        raise Damaged(f"{table.where}: there is no tensor {index}")
    return tensors[index]


def _resource_variables(operators: Sequence[Operator]) -> int:
    handles = [op.options for op in operators if op.name == "VAR_HANDLE" and not op.custom]
    return len({(options["container"], options["shared_name"]) for options in handles})
