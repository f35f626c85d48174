"""Put back the RESHAPE that today's TFLite converter leaves out before a fully connected layer."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np


def restore_reshape(content: bytes) -> bytes:
    """The same .tflite file with a RESHAPE to (1, n) before its one FULLY_CONNECTED.

    A fully connected layer flattens its input by itself, so the converter removes the reshape and
    the results are equal without it. Keyword spotters of earlier converters, and so the published
    tables of their layers, have it.
    """
    from tensorflow.lite.python import schema_py_generated as schema
    from tensorflow.lite.tools import flatbuffer_utils

    model = flatbuffer_utils.convert_bytearray_to_object(content)
    graph = model.subgraphs[0]
    codes = [code.builtinCode for code in model.operatorCodes]
    dense_code = codes.index(schema.BuiltinOperator.FULLY_CONNECTED)
    (place,) = [n for n, op in enumerate(graph.operators) if op.opcodeIndex == dense_code]
    dense = graph.operators[place]

    flat = _flat_tensor(graph.tensors[dense.inputs[0]])
    shape = _shape_tensor(schema, model, flat.shape)
    graph.tensors += [flat, shape]
    flat_index, shape_index = len(graph.tensors) - 2, len(graph.tensors) - 1
    graph.operators.insert(
        place, _reshape(schema, model, [dense.inputs[0], shape_index], flat_index)
    )
    dense.inputs = np.array([flat_index, *dense.inputs[1:]], dtype=np.int32)
    return bytes(flatbuffer_utils.convert_object_to_bytearray(model))


def _flat_tensor(source: Any) -> Any:
    """A tensor with the elements and the quantisation of the source, as one row."""
    flat = copy.deepcopy(source)
    flat.name = b"flatten"
    flat.shape = np.array([1, np.prod(source.shape)], dtype=np.int32)
    return flat


def _shape_tensor(schema: Any, model: Any, shape: Any) -> Any:
    """A constant that holds a shape; its buffer is added to the model."""
    buffer = schema.BufferT()
    buffer.data = np.frombuffer(shape.astype("<i4").tobytes(), dtype=np.uint8)
    model.buffers.append(buffer)
    tensor = schema.TensorT()
    tensor.name, tensor.type = b"flatten/shape", schema.TensorType.INT32
    tensor.shape, tensor.buffer = np.array([len(shape)], dtype=np.int32), len(model.buffers) - 1
    return tensor


def _reshape(schema: Any, model: Any, inputs: list[int], output: int) -> Any:
    """A RESHAPE operator; its operator code is added to the model."""
    code = schema.OperatorCodeT()
    code.builtinCode = code.deprecatedBuiltinCode = schema.BuiltinOperator.RESHAPE
    code.version = 1
    model.operatorCodes.append(code)
    operator = schema.OperatorT()
    operator.opcodeIndex = len(model.operatorCodes) - 1
    operator.inputs = np.array(inputs, dtype=np.int32)
    operator.outputs = np.array([output], dtype=np.int32)
    return operator
