"""Writing a `.tflite` file that holds some operators of another one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from itertools import chain
from typing import Any

from pytest_autodeploy.base.errors import ModelError
from pytest_autodeploy.model.graph import Model

_ALIGNMENT = 16
"""Bytes to which kernels want constant data aligned."""


def rewritten(
    model: Model,
    *,
    operators: Iterable[int],
    inputs: Sequence[int],
    outputs: Sequence[int],
    with_subgraphs: bool,
    parted: bool = False,
) -> bytes:
    """The content of a file whose subgraph 0 has these operators, inputs and outputs of ``model``.

    Tensors keep their indices; those that are not used lose their data, their quantisation and
    their state. The other subgraphs stay as they are, or go. Signatures and metadata go.
    ``parted``: the operators read copies of the inputs, so that none reads what another makes.
    Raises ModelError for what cannot be written again.
    """
    from ai_edge_litert import schema_py_generated as schema

    try:
        file = schema.ModelT.InitFromPackedBuf(model.content)
        _refuse_compressed(model, file)
        main = file.subgraphs[0]
        main.operators = [main.operators[position] for position in operators]
        main.inputs, main.outputs = list(inputs), list(outputs)
        if parted:
            _read_copies(main)
        _bare_unused(main)
        if not with_subgraphs:
            file.subgraphs = [main]
        _keep_used_codes(file)
        _keep_used_buffers(file, model.content)
        file.metadata = file.metadataBuffer = file.signatureDefs = None
        return _pack(file)
    except ModelError:
        raise
    except Exception as error:  # what the checked reader of this project does not look at
        raise ModelError(
            f"{model.name}: a part of it cannot be written: {type(error).__name__}: {error}",
            hint="the model may be damaged: convert it again",
        ) from error


def _refuse_compressed(model: Model, file: Any) -> None:
    if any(entry.name == b"COMPRESSION_METADATA" for entry in file.metadata or ()):
        raise ModelError(
            f"{model.name}: its tensors are compressed, which a part of it cannot be",
            hint="give the model from before the compression",
        )


def _read_copies(subgraph: Any) -> None:
    """Let the operators read copies of the inputs, which become the inputs."""
    first = len(subgraph.tensors)
    copies = {index: first + number for number, index in enumerate(subgraph.inputs)}
    subgraph.tensors += [copy(subgraph.tensors[index]) for index in subgraph.inputs]
    subgraph.inputs = list(copies.values())
    for operator in subgraph.operators:
        operator.inputs = [copies.get(int(index), int(index)) for index in operator.inputs]


def _bare_unused(subgraph: Any) -> None:
    """Leave name, type and shape of the tensors that nothing uses."""
    from ai_edge_litert.schema_py_generated import TensorT

    used = {*subgraph.inputs, *subgraph.outputs, *_mentioned(subgraph.operators)}
    subgraph.tensors = [
        tensor
        if index in used
        else TensorT(name=tensor.name, type=tensor.type, shape=tensor.shape, hasRank=tensor.hasRank)
        for index, tensor in enumerate(subgraph.tensors)
    ]


def _mentioned(operators: Iterable[Any]) -> Iterable[int]:
    for operator in operators:
        for tensors in (operator.inputs, operator.outputs, operator.intermediates):
            yield from () if tensors is None else map(int, tensors)


def _operators_of(file: Any) -> Iterable[Any]:
    return chain.from_iterable(subgraph.operators or () for subgraph in file.subgraphs)


def _keep_used_codes(file: Any) -> None:
    used = sorted({operator.opcodeIndex for operator in _operators_of(file)})
    for operator in _operators_of(file):
        operator.opcodeIndex = used.index(operator.opcodeIndex)
        operator.debugMetadataIndex = -1
    file.operatorCodes = [file.operatorCodes[code] for code in used]


def _keep_used_buffers(file: Any, content: bytes) -> None:
    """Those of constant tensors, behind buffer 0, which is empty by TFLite's rule."""
    tensors = list(chain.from_iterable(subgraph.tensors for subgraph in file.subgraphs))
    data = {number: _data(file.buffers[number], content) for number in _buffers_of(tensors)}
    used = [0, *(number for number in data if number and data[number])]
    for tensor in tensors:
        tensor.buffer = used.index(tensor.buffer) if tensor.buffer in used else 0
    file.buffers = [_Buffer(data[number]) for number in used]


def _buffers_of(tensors: Iterable[Any]) -> list[int]:
    return sorted({0} | {tensor.buffer for tensor in tensors})


def _data(buffer: Any, content: bytes) -> bytes:
    """The data of a buffer: within the flatbuffer, or behind it when that exceeds 2 GB."""
    if buffer.offset > 1:
        return content[buffer.offset : buffer.offset + buffer.size]
    return b"" if buffer.data is None else bytes(buffer.data)


class _Buffer:
    """A buffer with aligned data, which the schema's own BufferT does not care for."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def Pack(self, builder: Any) -> Any:  # noqa: N802 (the schema's module calls it)
        from ai_edge_litert import schema_py_generated as schema

        if self._data:
            builder.Prep(_ALIGNMENT, len(self._data))
            data = builder.CreateByteVector(self._data)
        schema.BufferStart(builder)
        if self._data:
            schema.BufferAddData(builder, data)
        return schema.BufferEnd(builder)


def pack(file: Any, content: bytes) -> bytes:
    """The content of a changed file; ``content`` is the old one, which may hold its buffers."""
    _keep_used_buffers(file, content)
    return _pack(file)


def _pack(file: Any) -> bytes:
    from flatbuffers import Builder

    builder = Builder(1024)
    builder.Finish(file.Pack(builder), b"TFL3")
    return bytes(builder.Output())
