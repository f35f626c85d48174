"""Which element types TFLM's kernels compute, by operator, and what to do about the others.

Source: the kernels of tflite-micro, tensorflow/lite/micro/kernels, August 2026: the checks of each
Prepare and the cases of each Eval. A type that is listed here may still be refused for another
reason, which a trial on this PC finds (reference/trial.py); one that is not listed never runs.
Operators that move bytes of any type, and those that are not here, are not judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytest_autodeploy.model.graph import Operator, Tensor

_TYPES = {
    "float32 int8 int16": """ABS AVERAGE_POOL_2D BATCH_MATMUL CONV_2D DEPTHWISE_CONV_2D EXPAND_DIMS
        FULLY_CONNECTED LEAKY_RELU LOGISTIC MAX_POOL_2D MEAN PRELU RELU RELU6
        RESIZE_NEAREST_NEIGHBOR RSQRT SELECT_V2 SOFTMAX SUM SVDF TANH TRANSPOSE TRANSPOSE_CONV
        UNIDIRECTIONAL_SEQUENCE_LSTM""",
    "float32 int8": """ADD_N ARG_MAX ARG_MIN BATCH_TO_SPACE_ND CUMSUM DEPTH_TO_SPACE ELU
        EMBEDDING_LOOKUP GATHER GATHER_ND HARD_SWISH L2_NORMALIZATION LOG_SOFTMAX MIRROR_PAD
        REDUCE_MAX REDUCE_MIN RESIZE_BILINEAR SPACE_TO_BATCH_ND SPACE_TO_DEPTH""",
    "float32": "CEIL COS EXP FLOOR FLOOR_DIV FLOOR_MOD L2_POOL_2D LOG NEG ROUND SIN SQRT SQUARE",
    "float32 int8 int32": "DIV FILL",
    "float32 int8 int16 int32": "ADD MUL PAD PADV2 SPLIT SPLIT_V SQUARED_DIFFERENCE SUB UNPACK",
    "float32 int8 int16 int32 int64": "DYNAMIC_UPDATE_SLICE GREATER MAXIMUM MINIMUM PACK",
    "float32 int8 int32 int64": "GREATER_EQUAL LESS LESS_EQUAL ZEROS_LIKE",
    "float32 int8 int32 int64 bool": "EQUAL NOT_EQUAL",
    "float32 int8 int16 int32 int64 bool": "CONCATENATION",
    "float32 int8 int16 int32 bool": "SLICE STRIDED_SLICE",
    "float32 int8 int16 int32 uint32 bool": "CAST",
    "float32 int8 int16 int32 uint8": "QUANTIZE",
    "int8 int16 uint8": "DEQUANTIZE",
    "bool": "LOGICAL_NOT REDUCE_ALL",
}
TAKEN = {name: types.split() for types, names in _TYPES.items() for name in names.split()}
"""The types of the values that an operator computes on."""

MADE = {
    "ARG_MAX": ["int32"],
    "ARG_MIN": ["int32"],
    "CAST": ["float32", "int8", "int16", "int32", "uint32"],
    "DEQUANTIZE": ["float32"],
    "QUANTIZE": ["int8", "int16", "int32", "uint8"],
}
"""The types of the output, where it is not that of the values."""

_VALUES = {"EMBEDDING_LOOKUP": 1, "FILL": 1, "SELECT_V2": 1, "SPLIT": 1, "TRANSPOSE_CONV": 2}
"""The input with the values, where it is not input 0."""

# fmt: off
_WEIGHTED = frozenset({
    "BATCH_MATMUL", "CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "SVDF", "TRANSPOSE_CONV",
    "UNIDIRECTIONAL_SEQUENCE_LSTM",
})
# fmt: on
"""Operators with weights in input 1, which have to be float32 when the values are."""

_FULL_INT8 = (
    "convert to full int8: optimizations = [tf.lite.Optimize.DEFAULT], a representative_dataset,"
    " and target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]"
)


@dataclass(frozen=True)
class TypeRefusal:
    """An operator whose types no kernel of TFLM computes: its words, and what to do."""

    text: str
    hint: str


def type_refusals(operators: Sequence[Operator]) -> Iterator[TypeRefusal]:
    """What TFLM refuses for its types, operator by operator."""
    for operator in operators:
        refusal = None if operator.custom else _refusal(operator)
        if refusal is not None:
            yield refusal


def _refusal(operator: Operator) -> TypeRefusal | None:
    values = _at(operator.inputs, _VALUES.get(operator.name, 0))
    if values is not None and values.dtype not in TAKEN.get(operator.name, [values.dtype]):
        return _of_type(operator.name, "of", values.dtype)
    result = _at(operator.outputs, 0)
    if result is not None and result.dtype not in MADE.get(operator.name, [result.dtype]):
        return _of_type(operator.name, "to", result.dtype)
    weights = _at(operator.inputs, 1) if operator.name in _WEIGHTED else None
    if values is None or weights is None or values.dtype != "float32":
        return None
    return None if weights.dtype == "float32" else _hybrid(operator.name, weights.dtype)


def _hybrid(name: str, dtype: str) -> TypeRefusal:
    kind = "float16" if dtype == "float16" else f"dynamic-range, {dtype}"
    return TypeRefusal(f"{name} of float32 with {dtype} weights ({kind} weights)", _FULL_INT8)


def _of_type(name: str, preposition: str, dtype: str) -> TypeRefusal:
    kind = " (float16 weights)" if (name, dtype) == ("DEQUANTIZE", "float16") else ""
    return TypeRefusal(f"{name} {preposition} {dtype}{kind}", _HINTS.get(dtype, _OTHER))


_OTHER = "use another type there, or leave this part of the model to the application"
_HINTS = {
    "float16": _FULL_INT8,
    "int16": "convert to full int8 rather than int16x8",
    "int64": "use int32: tf.cast(x, tf.int32), or output_type=tf.int32 of tf.argmax",
    "uint8": "give inputs and outputs as int8: inference_input_type and inference_output_type ="
    " tf.int8, and leave a cast from uint8 to the application",
}


def _at(tensors: Sequence[Tensor | None], index: int) -> Tensor | None:
    return tensors[index] if index < len(tensors) else None


def arithmetic(operators: Sequence[Operator]) -> str:
    """In which types the weighted operators compute, such as ``int8`` or ``int16x8``.

    ``int16x8`` is int16 activations with int8 weights; nothing for a model without weights.
    """
    kinds: dict[str, None] = {}
    for operator in operators:
        if operator.name not in _WEIGHTED:
            continue
        values = _at(operator.inputs, _VALUES.get(operator.name, 0))
        weights = _at(operator.inputs, 1)
        if values is not None and weights is not None:
            kinds[_arithmetic(values.dtype, weights.dtype)] = None
    return ", ".join(kinds)


def _arithmetic(values: str, weights: str) -> str:
    if (values, weights) == ("int16", "int8"):
        return "int16x8"
    return values if values == weights else f"{values} with {weights} weights"
