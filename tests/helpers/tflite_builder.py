"""Tiny `.tflite` files of any operator, made from scratch for the tests.

A model is made of ``tensor(...)`` and ``operator(...)`` values; operators refer to the tensors
themselves, so nothing has to be numbered::

    x, y = tensor((1, 4)), tensor((1, 4))
    content = build_model(operators=[operator("RELU", [x], [y])], inputs=[x], outputs=[y])

The functions at the end make ready models, most of which run in LiteRT and in TFLM.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from ai_edge_litert import schema_py_generated as schema
from flatbuffers import Builder

Data = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class TensorSpec:
    """See tensor()."""

    shape: tuple[int, ...]
    dtype: str
    data: Data | None
    scale: Sequence[float]
    zero_point: Sequence[int]
    axis: int
    name: str
    signature: tuple[int, ...] | None
    variable: bool


@dataclass(frozen=True, eq=False)
class OperatorSpec:
    """See operator()."""

    name: str
    inputs: Sequence[TensorSpec | None]
    outputs: Sequence[TensorSpec]
    options: Mapping[str, Any]
    options_type: str | None
    custom: bool


@dataclass(frozen=True, eq=False)
class Subgraph:
    """Operators between inputs and outputs."""

    operators: Sequence[OperatorSpec]
    inputs: Sequence[TensorSpec] = ()
    outputs: Sequence[TensorSpec] = ()


def tensor(
    shape: Sequence[int],
    dtype: str = "float32",
    *,
    data: Any = None,
    scale: float | Sequence[float] | None = None,
    zero_point: int | Sequence[int] = 0,
    axis: int = 0,
    name: str = "",
    signature: Sequence[int] | None = None,
    variable: bool = False,
) -> TensorSpec:
    """Constant with ``data``, quantised with ``scale``, open where ``signature`` has -1."""
    scales = np.atleast_1d([] if scale is None else scale).tolist()
    zero_points = np.broadcast_to(zero_point, len(scales)).tolist()
    values = None if data is None else np.asarray(data)
    if values is not None and dtype not in ("string", "int4"):
        values = values.astype(dtype).reshape(shape)
    open_shape = None if signature is None else tuple(signature)
    return TensorSpec(
        tuple(shape), dtype, values, scales, zero_points, axis, name, open_shape, variable
    )


def constant(data: Any, dtype: str = "int32", **quantization: Any) -> TensorSpec:
    """A constant tensor with the shape of its data."""
    return tensor(np.shape(data), dtype, data=data, **quantization)


def operator(
    name: str,
    inputs: Sequence[TensorSpec | None],
    outputs: Sequence[TensorSpec],
    *,
    options: Mapping[str, Any] | None = None,
    options_type: str | None = None,
    custom: bool = False,
) -> OperatorSpec:
    """An operator by its builtin name, or ``custom`` by its code; None is an omitted input.

    ``options`` have the names of TFLite's schema (``stride_w``). Their type ("Pool2DOptions") only
    needs to be given where it is not named like the operator.
    """
    return OperatorSpec(name, inputs, outputs, options or {}, options_type, custom)


def build_model(
    *,
    operators: Sequence[OperatorSpec],
    inputs: Sequence[TensorSpec],
    outputs: Sequence[TensorSpec],
    more_subgraphs: Sequence[Subgraph] = (),
    signatures: Sequence[tuple[str, int]] = (),
    version: int = 3,
    description: str = "made by a test",
) -> bytes:
    """The content of a `.tflite` file."""
    model = schema.ModelT()
    model.version = version
    model.description = description
    model.buffers = [_Buffer()]
    model.operatorCodes = []
    subgraphs = [Subgraph(operators, inputs, outputs), *more_subgraphs]
    model.subgraphs = [_subgraph(subgraph, model) for subgraph in subgraphs]
    model.signatureDefs = [_signature(key, subgraph) for key, subgraph in signatures] or None
    builder = Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


class _Buffer(schema.BufferT):  # type: ignore[misc]
    """A buffer whose data is aligned to 16 bytes, which the generated code forgets."""

    def Pack(self, builder: Any) -> Any:  # noqa: N802
        if self.data is None:
            return super().Pack(builder)
        content = bytes(self.data)
        builder.StartVector(1, len(content), 16)
        builder.head -= len(content)
        builder.Bytes[builder.head : builder.head + len(content)] = content
        data = builder.EndVector()
        schema.BufferStart(builder)
        schema.BufferAddData(builder, data)
        return schema.BufferEnd(builder)


def _signature(key: str, subgraph: int) -> Any:
    packed = schema.SignatureDefT()
    packed.signatureKey, packed.subgraphIndex = key, subgraph
    return packed


def _subgraph(subgraph: Subgraph, model: Any) -> Any:
    operators = subgraph.operators
    mentioned = [*subgraph.inputs, *subgraph.outputs]
    mentioned += [spec for op in operators for spec in (*op.inputs, *op.outputs) if spec]
    specs = list(dict.fromkeys(mentioned))
    packed = schema.SubGraphT()
    packed.name = "main"
    packed.tensors = [_tensor(spec, at, model) for at, spec in enumerate(specs)]
    packed.inputs = [specs.index(spec) for spec in subgraph.inputs]
    packed.outputs = [specs.index(spec) for spec in subgraph.outputs]
    packed.operators = [_operator(op, specs, model) for op in operators]
    return packed


def _tensor(spec: TensorSpec, index: int, model: Any) -> Any:
    packed = schema.TensorT()
    packed.shape = list(spec.shape)
    packed.shapeSignature = None if spec.signature is None else list(spec.signature)
    packed.hasRank = True
    packed.type = getattr(schema.TensorType, spec.dtype.upper())
    packed.name = spec.name or f"tensor_{index}"
    packed.isVariable = spec.variable
    packed.buffer = 0
    if spec.data is not None:
        packed.buffer = len(model.buffers)
        model.buffers.append(_Buffer(data=spec.data.tobytes()))
    if spec.scale:
        packed.quantization = schema.QuantizationParametersT()
        packed.quantization.scale = list(spec.scale)
        packed.quantization.zeroPoint = list(spec.zero_point)
        packed.quantization.quantizedDimension = spec.axis
    return packed


def _operator(spec: OperatorSpec, specs: Sequence[TensorSpec], model: Any) -> Any:
    packed = schema.OperatorT()
    packed.opcodeIndex = len(model.operatorCodes)
    model.operatorCodes.append(_operator_code(spec))
    packed.inputs = [-1 if each is None else specs.index(each) for each in spec.inputs]
    packed.outputs = [specs.index(each) for each in spec.outputs]
    name = _options_type(spec)
    if name is not None:
        packed.builtinOptionsType = getattr(schema.BuiltinOptions, name)
        packed.builtinOptions = getattr(schema, f"{name}T")()
        for option, value in spec.options.items():
            first, *rest = option.split("_")
            attribute = first + "".join(map(str.capitalize, rest))
            assert hasattr(packed.builtinOptions, attribute), f"{name} has no {option}"
            setattr(packed.builtinOptions, attribute, value)
    return packed


def _operator_code(spec: OperatorSpec) -> Any:
    code = schema.OperatorCodeT()
    code.builtinCode = getattr(schema.BuiltinOperator, "CUSTOM" if spec.custom else spec.name)
    code.deprecatedBuiltinCode = min(code.builtinCode, 127)
    code.customCode = spec.name if spec.custom else None
    code.version = 1
    return code


def _options_type(spec: OperatorSpec) -> str | None:
    if spec.custom or spec.options_type is not None:
        return spec.options_type
    wanted = f"{spec.name}Options".replace("_", "").lower()
    types = [name for name in vars(schema.BuiltinOptions) if name.lower() == wanted]
    return types[0] if types else None


def single_operator(
    name: str,
    inputs: Sequence[TensorSpec | None],
    outputs: Sequence[TensorSpec],
    *,
    options: Mapping[str, Any] | None = None,
    options_type: str | None = None,
    custom: bool = False,
) -> bytes:
    """A model of one operator; its inputs without data are the model's."""
    only = OperatorSpec(name, inputs, outputs, options or {}, options_type, custom)
    fed = [spec for spec in inputs if spec and spec.data is None and not spec.variable]
    return build_model(operators=[only], inputs=fed, outputs=outputs)


def add_two_inputs(dtype: str = "int8", shape: Sequence[int] = (1, 4)) -> bytes:
    """a + b, in int8, int16 or float32; the scales of int8 are 0.5, 0.25 and 1."""
    scales: Sequence[float | None] = {"float32": (None,) * 3}.get(dtype, (0.5, 0.25, 1.0))
    offsets = (3, -2, 1) if dtype == "int8" else (0, 0, 0)
    a, b, total = (
        tensor(shape, dtype, scale=scale, zero_point=offset, name=name)
        for scale, offset, name in zip(scales, offsets, ("a", "b", "sum"), strict=True)
    )
    options = {"pot_scale_int16": False}
    return single_operator("ADD", [a, b], [total], options=options)


def fully_connected(
    dtype: str = "int8", *, depth: int = 8, units: int = 4, batch: int = 1, seed: int = 0
) -> bytes:
    """One FULLY_CONNECTED layer with random weights and a bias, in int8 or float32."""
    random = np.random.default_rng(seed)
    if dtype == "float32":
        weights = constant(random.normal(size=(units, depth)), dtype, name="weights")
        bias = constant(random.normal(size=units), dtype, name="bias")
        x, y = tensor((batch, depth), name="x"), tensor((batch, units), name="y")
    else:
        drawn = random.integers(-127, 128, (units, depth))
        weights = constant(drawn, "int8", scale=0.01, name="weights")
        bias = constant(random.integers(-999, 1000, units), scale=0.0005, name="bias")
        x = tensor((batch, depth), "int8", scale=0.05, zero_point=-5, name="x")
        y = tensor((batch, units), "int8", scale=0.1, zero_point=7, name="y")
    return single_operator("FULLY_CONNECTED", [x, weights, bias], [y])


def custom_operator(code: str = "MyOperator") -> bytes:
    """A model of one custom operator, that no interpreter knows."""
    x, y = tensor((1, 4), name="x"), tensor((1, 4), name="y")
    return single_operator(code, [x], [y], custom=True)


def vela_compiled() -> bytes:
    """A model as Vela writes it: one custom operator for the NPU."""
    return custom_operator("ethos-u")


def without_kernel() -> bytes:
    """A model of a builtin operator that TFLM lacks."""
    x, y = tensor((1, 4)), tensor((1, 4))
    return single_operator("ATAN2", [x, x], [y], options_type="ATan2Options")


def relu(shape: Sequence[int] = (1, 4), signature: Sequence[int] | None = None) -> bytes:
    """One RELU in float32; a signature with -1 opens dimensions of its input and output."""
    x, y = (tensor(shape, signature=signature, name=name) for name in ("x", "y"))
    return single_operator("RELU", [x], [y])


def relu_chain(layers: int, size: int) -> bytes:
    """So many RELU in float32, one behind the other."""
    tensors = [tensor((1, size), name=f"t{number}") for number in range(layers + 1)]
    operators = [operator("RELU", [x], [y]) for x, y in pairwise(tensors)]
    return build_model(operators=operators, inputs=tensors[:1], outputs=tensors[-1:])


def dynamic_batch() -> bytes:
    """What Keras exports by default: an open batch dimension, given as 1."""
    return relu((1, 4), (-1, 4))


def dynamic_shape() -> bytes:
    """A model whose input has an open dimension that is not the batch."""
    return relu((1, 1, 4), (-1, -1, 4))


def string_input() -> bytes:
    """A model whose input holds strings."""
    return single_operator("SHAPE", [tensor((2,), "string", name="words")], [tensor((1,), "int32")])


def running_sum() -> bytes:
    """A resource variable, zero at first, to which each inference adds its input x.

    The main subgraph: CALL_ONCE, VAR_HANDLE, READ_VARIABLE, ADD, ASSIGN_VARIABLE; the one that it
    calls once: VAR_HANDLE, ASSIGN_VARIABLE.
    """
    variable = {"container": "", "shared_name": "sum"}
    handle, first = tensor((), "resource"), tensor((), "resource")
    x, old, new = tensor((1, 4), name="x"), tensor((1, 4)), tensor((1, 4), name="sum")
    initial = Subgraph(
        [
            operator("VAR_HANDLE", [], [first], options=variable),
            operator("ASSIGN_VARIABLE", [first, constant([[0.0] * 4], "float32")], []),
        ]
    )
    steps = [
        operator("CALL_ONCE", [], [], options={"init_subgraph_index": 1}),
        operator("VAR_HANDLE", [], [handle], options=variable),
        operator("READ_VARIABLE", [handle], [old]),
        operator("ADD", [old, x], [new]),
        operator("ASSIGN_VARIABLE", [handle, new], []),
    ]
    return build_model(operators=steps, inputs=[x], outputs=[new], more_subgraphs=[initial])


def svdf(seed: int = 0) -> bytes:
    """One SVDF of rank 1 in float32, which keeps the samples of three inferences in a tensor."""
    random = np.random.default_rng(seed)
    x = tensor((1, 2), name="x")
    feature = constant(random.normal(size=(4, 2)), "float32", name="feature")
    time = constant(random.normal(size=(4, 3)), "float32", name="time")
    state = tensor((1, 12), name="state", variable=True)
    y = tensor((1, 4), name="y")
    options = {"rank": 1}
    bias = constant([0.0] * 4, "float32", name="bias")
    return single_operator("SVDF", [x, feature, time, bias, state], [y], options=options)


def with_input_zero_point(content: bytes, zero_point: int) -> bytes:
    """The same model with another zero point of its first input."""
    changed = bytearray(content)
    graph = schema.Model.GetRootAs(changed, 0).Subgraphs(0)
    quantization = graph.Tensors(graph.Inputs(0)).Quantization()
    quantization.ZeroPointAsNumpy()[0] = zero_point
    return bytes(changed)


def endless_loop() -> bytes:
    """A WHILE whose condition is always true."""
    x, y = tensor((1,)), tensor((1,))
    before, true = tensor((1,)), constant([True], "bool")
    given, after = tensor((1,)), tensor((1,))
    loop = operator("WHILE", [x], [y], options={"cond_subgraph_index": 1, "body_subgraph_index": 2})
    return build_model(
        operators=[loop],
        inputs=[x],
        outputs=[y],
        more_subgraphs=[
            Subgraph([], [before], [true]),
            Subgraph([operator("ABS", [given], [after])], [given], [after]),
        ],
    )


def uint8_cast() -> bytes:
    """A CAST from uint8, which TFLM prepares and refuses to run."""
    return single_operator("CAST", [tensor((1, 4), "uint8", name="x")], [tensor((1, 4), name="y")])


def int64_cast() -> bytes:
    """A CAST to int64, which TFLM prepares and refuses to run."""
    return single_operator("CAST", [tensor((1, 4), name="x")], [tensor((1, 4), "int64", name="y")])


def dynamic_range_weights() -> bytes:
    """A FULLY_CONNECTED layer of float32 with int8 weights: TFLM takes them for float32."""
    weights = constant([[1, 2], [3, 4]], "int8", scale=0.5, name="weights")
    x, y = tensor((1, 2), name="x"), tensor((1, 2), name="y")
    return single_operator("FULLY_CONNECTED", [x, weights, None], [y])


def float16_weights() -> bytes:
    """A DEQUANTIZE of float16 weights in front of a layer of float32."""
    half, full = constant([[1, 2], [3, 4]], "float16", name="half"), tensor((2, 2), name="full")
    x, y = tensor((1, 2), name="x"), tensor((1, 2), name="y")
    steps = [
        operator("DEQUANTIZE", [half], [full]),
        operator("FULLY_CONNECTED", [x, full, None], [y]),
    ]
    return build_model(operators=steps, inputs=[x], outputs=[y])


def bias_with_axis_of_filter(axis: int = 3) -> bytes:
    """A convolution by channel whose bias has the ``quantized_dimension`` of a filter."""
    x = tensor((1, 2, 2, 1), "int8", scale=0.05, name="x")
    drawn = np.random.default_rng(0).integers(-127, 128, (2, 1, 1, 1))
    filters = constant(drawn, "int8", scale=[0.01, 0.02], zero_point=0, name="filters")
    bias = constant([10, -20], scale=[0.0005, 0.001], zero_point=0, axis=axis, name="bias")
    y = tensor((1, 2, 2, 2), "int8", scale=0.1, name="y")
    return single_operator(
        "CONV_2D", [x, filters, bias], [y], options={"stride_w": 1, "stride_h": 1}
    )


def empty_output() -> bytes:
    """y = ReLU(x), and a second output of no elements."""
    x, y = tensor((1, 4), name="x"), tensor((1, 4), name="y")
    nothing = constant(np.empty((1, 0)), "float32", name="nothing")
    return build_model(operators=[operator("RELU", [x], [y])], inputs=[x], outputs=[y, nothing])


def two_signatures() -> bytes:
    """Two subgraphs of a layer each, neither of which calls the other: 8 and 32 MACs."""

    def layer(depth: int) -> Subgraph:
        x, y = tensor((1, depth), name="x"), tensor((1, 4), name="y")
        weights = constant(np.ones((4, depth)), "float32", name=f"weights_{depth}")
        return Subgraph([operator("FULLY_CONNECTED", [x, weights, None], [y])], [x], [y])

    first, second = layer(2), layer(8)
    return build_model(
        operators=first.operators,
        inputs=first.inputs,
        outputs=first.outputs,
        more_subgraphs=[second],
        signatures=[("small", 0), ("large", 1)],
    )


def counting_loop() -> bytes:
    """x + 1, again and again while it is below 5: WHILE, with LESS and ADD in its subgraphs."""
    x, y = tensor((1,), name="x"), tensor((1,), name="y")
    before, below = tensor((1,)), tensor((1,), "bool")
    given, after = tensor((1,)), tensor((1,))
    five, one = constant([5.0], "float32"), constant([1.0], "float32")
    loop = operator("WHILE", [x], [y], options={"cond_subgraph_index": 1, "body_subgraph_index": 2})
    return build_model(
        operators=[loop],
        inputs=[x],
        outputs=[y],
        more_subgraphs=[
            Subgraph([operator("LESS", [before, five], [below])], [before], [below]),
            Subgraph([operator("ADD", [given, one], [after])], [given], [after]),
        ],
    )


def branch() -> bytes:
    """If x is below 0 a layer of 4096 MACs, else nothing but a RELU."""
    x, y = tensor((1, 64), name="x"), tensor((1, 64), name="y")
    least, negative = tensor((), name="least"), tensor((), "bool", name="negative")
    left, dense, right, same = (tensor((1, 64)) for _ in range(4))
    weights = constant(np.eye(64), "float32", name="weights")
    options = {"then_subgraph_index": 1, "else_subgraph_index": 2}
    steps = [
        operator("REDUCE_MIN", [x, constant([0, 1])], [least], options_type="ReducerOptions"),
        operator("LESS", [least, constant(0.0, "float32")], [negative]),
        operator("IF", [negative, x], [y], options=options),
    ]
    return build_model(
        operators=steps,
        inputs=[x],
        outputs=[y],
        more_subgraphs=[
            Subgraph(
                [operator("FULLY_CONNECTED", [left, weights, None], [dense])], [left], [dense]
            ),
            Subgraph([operator("RELU", [right], [same])], [right], [same]),
        ],
    )
