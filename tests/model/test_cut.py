"""Parts of a model as models of their own, run by LiteRT and by TFLM."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema
from flatbuffers import Builder

from pytest_autodeploy.base.errors import ModelError
from pytest_autodeploy.model.cut import cut_model
from pytest_autodeploy.model.graph import Model, Tensor
from pytest_autodeploy.model.load import load_model
from pytest_autodeploy.reference.inputs import random_inputs
from tests.helpers import tflite_builder as build
from tests.helpers.pc_interpreters import ENGINES, Litert
from tests.helpers.support import DIGITS, KWS
from tests.helpers.tflite_builder import build_model, constant, operator, tensor


def skip_connection() -> bytes:
    """Of ResNet's kind, with two inputs and two outputs: y = a + relu(a * w) and z = tanh(b)."""
    a, b = tensor((1, 4), name="a"), tensor((1, 4), name="b")
    made = {name: tensor((1, 4), name=name) for name in ("product", "relu", "y", "z")}
    weights = constant(np.arange(16).reshape(4, 4) / 8 - 1, "float32", name="weights")
    steps = [
        operator("FULLY_CONNECTED", [a, weights, None], [made["product"]]),  # no bias
        operator("TANH", [b], [made["z"]]),
        operator("RELU", [made["product"]], [made["relu"]]),
        operator("ADD", [made["relu"], a], [made["y"]]),
    ]
    return build_model(operators=steps, inputs=[a, b], outputs=[made["z"], made["y"]])


def two_from_one() -> bytes:
    """SPLIT makes two tensors; one is needed two operators later."""
    x, axis = tensor((1, 8), name="x"), constant(1, "int32", name="axis")
    left, right = tensor((1, 4), name="left"), tensor((1, 4), name="right")
    squared, y = tensor((1, 4), name="squared"), tensor((1, 4), name="y")
    steps = [
        operator("SPLIT", [axis, x], [left, right], options={"num_splits": 2}),
        operator("SQUARE", [left], [squared]),
        operator("SUB", [squared, right], [y]),
    ]
    return build_model(operators=steps, inputs=[x], outputs=[y])


def with_state() -> bytes:
    """RELU, an SVDF that remembers three inputs in a variable tensor, TANH."""
    x, positive, y, z = (tensor((1, 2), name=name) for name in ("x", "positive", "y", "z"))
    feature = constant([[1.0, 0.5], [-1.0, 2.0]], "float32", name="feature")
    time = constant([[0.5, 0.25, 1.0], [1.0, -1.0, 0.5]], "float32", name="time")
    bias = constant([0.5, 0.0], "float32", name="bias")
    state = tensor((1, 6), name="state", variable=True)
    steps = [
        operator("RELU", [x], [positive]),
        operator("SVDF", [positive, feature, time, bias, state], [y], options={"rank": 1}),
        operator("TANH", [y], [z]),
    ]
    return build_model(operators=steps, inputs=[x], outputs=[z])


def recurrent() -> bytes:
    """RELU, an LSTM of 3 cells without peepholes and projection, TANH; its state is kept."""
    random = np.random.default_rng(0)

    def weights(*shape: int) -> build.TensorSpec:
        return constant(random.normal(size=shape), "float32")

    x, positive = tensor((1, 2, 2), name="x"), tensor((1, 2, 2), name="positive")
    y, z = tensor((1, 2, 3), name="y"), tensor((1, 2, 3), name="z")
    inputs: list[build.TensorSpec | None] = [positive]
    inputs += [weights(3, depth) for depth in (2, 3) for _ in range(4)]
    inputs += [None] * 3 + [weights(3) for _ in range(4)] + [None] * 2
    inputs += [tensor((1, 3), name=name, variable=True) for name in ("hidden", "cell")]
    options = {"fused_activation_function": 4}  # TANH
    steps = [
        operator("RELU", [x], [positive]),
        operator("UNIDIRECTIONAL_SEQUENCE_LSTM", [*inputs, *[None] * 4], [y], options=options),
        operator("TANH", [y], [z]),
    ]
    return build_model(operators=steps, inputs=[x], outputs=[z])


MODELS = {
    "skip": skip_connection,
    "split": two_from_one,
    "svdf": with_state,
    "lstm": recurrent,
}


def load(folder: Path, content: bytes) -> Model:
    path = folder / "whole.tflite"
    path.write_bytes(content)
    return load_model(path)


@pytest.fixture(params=[*MODELS, "digits", "kws"])
def model(request: pytest.FixtureRequest, tmp_path: Path) -> Model:
    """A small model of each kind, and the project's own int8 ones."""
    real = {"digits": DIGITS, "kws": KWS}.get(request.param)
    return load_model(real) if real else load(tmp_path, MODELS[request.param]())


def names(tensors: tuple[Tensor, ...]) -> list[str]:
    return [each.name for each in tensors]


@pytest.mark.parametrize("engine", ENGINES)
def test_at_every_operator_the_parts_compute_what_the_whole_does(model: Model, engine: str) -> None:
    runner = ENGINES[engine]
    inputs = random_inputs(model, 3, 42).arrays
    for last in range(len(model.operators) - 1):
        whole = runner(model, keep=True)
        front, back = cut_model(model, 0, last), cut_model(model, last + 1)
        parts = [runner(front), runner(back)]
        for samples in zip(*inputs, strict=True):
            values = {x.index: sample for x, sample in zip(model.inputs, samples, strict=True)}
            whole.run(values)
            for part in parts:
                values |= part.run(values)
            made = {tensor.index for tensor in (*front.outputs, *back.outputs)}
            assert {tensor.index for tensor in model.operators[last].outputs} <= made
            for index in made:
                assert np.array_equal(values[index], whole.tensor(index)), (last, index)


def test_a_part_in_the_middle_takes_and_gives_what_crosses_its_ends(tmp_path: Path) -> None:
    middle = cut_model(load(tmp_path, skip_connection()), 2, 2)
    assert (middle.name, names(middle.inputs), names(middle.outputs)) == (
        "whole[2:2]",
        ["product"],
        ["relu"],
    )


def test_inputs_come_in_the_order_of_first_use_and_from_operator_0_on_as_in_the_model(
    tmp_path: Path,
) -> None:
    whole = load(tmp_path, skip_connection())
    assert names(cut_model(whole, 1, 3).inputs) == ["b", "product", "a"]
    assert names(cut_model(whole, 0, 0).inputs) == ["a", "b"]


def test_the_outputs_of_the_model_come_first_and_in_order(tmp_path: Path) -> None:
    whole = load(tmp_path, skip_connection())
    assert names(cut_model(whole, 0, 1).outputs) == ["z", "product"]
    assert names(cut_model(whole).outputs) == ["z", "y"]


def test_a_tensor_that_is_needed_later_leaves_a_part_that_goes_on(tmp_path: Path) -> None:
    whole = load(tmp_path, two_from_one())
    assert names(cut_model(whole, 0, 1).outputs) == ["right", "squared"]
    assert names(cut_model(whole, 2).inputs) == ["squared", "right"]


def test_a_part_from_operator_0_on_gives_what_its_last_operator_makes(tmp_path: Path) -> None:
    x, y, unused = tensor((1, 4), name="x"), tensor((1, 4), name="y"), tensor((1, 4), name="unused")
    steps = [operator("ABS", [x], [unused]), operator("RELU", [x], [y])]
    whole = load(tmp_path, build_model(operators=steps, inputs=[x], outputs=[y]))
    assert names(cut_model(whole, 0, 0).outputs) == ["unused"]
    assert names(cut_model(whole, 0, 1).outputs) == ["y"]


def test_the_cut_model_is_that_of_its_file(model: Model, tmp_path: Path) -> None:
    part = cut_model(model, 0, 0)
    path = tmp_path / f"{part.name}.tflite"
    path.write_bytes(part.content)
    again = load_model(path)
    assert (again.sha256, again.operators, again.inputs) == (
        part.sha256,
        part.operators,
        part.inputs,
    )


def test_what_a_part_does_not_use_is_not_in_it() -> None:
    kws = load_model(KWS)
    part = cut_model(kws, 0, 0)
    file = schema.ModelT.InitFromPackedBuf(part.content)
    assert part.size_bytes < kws.size_bytes / 4
    assert (len(file.operatorCodes), file.signatureDefs, file.metadata) == (1, None, None)
    assert len(file.buffers) == 1 + sum(each.constant for each in part.tensors)
    assert len(part.tensors) == len(kws.tensors)
    assert names(part.tensors) == names(kws.tensors)


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("engine", ENGINES)
def test_tensors_that_a_part_does_not_use_take_no_memory(
    tmp_path: Path, engine: str, keep: bool
) -> None:
    huge = (1 << 20, 1 << 18)
    x, y, z, state = tensor((1, 4)), tensor((1, 4)), tensor(huge), tensor(huge, variable=True)
    steps = [operator("RELU", [x], [y]), operator("SVDF", [y, state], [z])]
    whole = load(tmp_path, build_model(operators=steps, inputs=[x], outputs=[z]))
    part = ENGINES[engine](cut_model(whole, 0, 0), keep=keep)
    given = np.array([[-1, 0, 1, 2]], np.float32)
    (result,) = part.run({whole.inputs[0].index: given}).values()
    assert result.tolist() == [[0, 0, 1, 2]]


def test_data_of_constants_is_aligned_for_the_kernels() -> None:
    part = cut_model(load_model(KWS), 1, 1)
    file = schema.Model.GetRootAs(part.content)
    start = np.frombuffer(part.content, np.uint8).ctypes.data
    data = [file.Buffers(number).DataAsNumpy() for number in range(1, file.BuffersLength())]
    assert [(values.ctypes.data - start) % 16 for values in data] == [0] * len(data)


def test_subgraphs_come_along_with_the_operator_that_calls_them(tmp_path: Path) -> None:
    x, yes = tensor((1,), name="x"), constant([True], "bool")
    y, z = tensor((1,), name="y"), tensor((1,), name="z")
    branches = {"then_subgraph_index": 1, "else_subgraph_index": 2}
    steps = [operator("ABS", [x], [y]), operator("IF", [yes, y], [z], options=branches)]
    given = [(tensor((1,)), tensor((1,))) for _ in range(2)]
    more = [
        build.Subgraph([operator(name, [a], [b])], [a], [b])
        for name, (a, b) in zip(("EXP", "NEG"), given, strict=True)
    ]
    content = build_model(operators=steps, inputs=[x], outputs=[z], more_subgraphs=more)
    whole = load(tmp_path, content)
    assert cut_model(whole, 0, 0).subgraphs == 1
    back = cut_model(whole, 1)
    assert back.subgraphs == 3
    for runner in ENGINES.values():
        (result,) = (
            runner(back)
            .run({whole.operators[0].outputs[0].index: np.zeros(1, np.float32)})
            .values()
        )
        assert result.tolist() == [1]


def test_all_users_of_a_resource_variable_stay_together(tmp_path: Path) -> None:
    """CALL_ONCE and the ASSIGN_VARIABLE at the end are among them."""
    whole = load(tmp_path, build.running_sum())
    with pytest.raises(
        ModelError, match=r"whole\[0:3\]: the cut parts users of resource variables"
    ):
        cut_model(whole, 0, 3)
    with pytest.raises(ModelError, match="READ_VARIABLE, VAR_HANDLE from CALL_ONCE"):
        cut_model(whole, 1)
    counting = Litert(cut_model(whole))
    one = {whole.inputs[0].index: np.ones((1, 4), np.float32)}
    sums = [next(iter(counting.run(one).values()))[0, 0] for _ in range(3)]
    assert sums == [1, 2, 3]


def test_users_of_a_variable_tensor_stay_together(tmp_path: Path) -> None:
    x, y, z = tensor((1, 4)), tensor((1, 4)), tensor((1, 4))
    state = tensor((1, 4), name="memory", variable=True)
    steps = [operator("ADD", [x, state], [y]), operator("ADD", [y, state], [z])]
    whole = load(tmp_path, build_model(operators=steps, inputs=[x], outputs=[z]))
    with pytest.raises(ModelError, match="the cut parts users of the variable 'memory'"):
        cut_model(whole, 0, 0)


def test_operators_that_make_nothing_that_is_needed_are_no_model(tmp_path: Path) -> None:
    x, y, unused = tensor((1, 4)), tensor((1, 4)), tensor((1, 4))
    steps = [operator("RELU", [x], [y]), operator("ABS", [y], [unused])]
    whole = load(tmp_path, build_model(operators=steps, inputs=[x], outputs=[y]))
    with pytest.raises(ModelError, match=r"whole\[1:1\]: these operators make nothing"):
        cut_model(whole, 1)


@pytest.mark.parametrize(("first", "last"), [(-1, 0), (2, 1), (0, 4), (9, None)])
def test_positions_that_are_not_there_are_an_error(
    tmp_path: Path, first: int, last: int | None
) -> None:
    with pytest.raises(ModelError, match="the model has operators 0 to 3"):
        cut_model(load(tmp_path, skip_connection()), first, last)


def test_a_model_with_compressed_tensors_is_refused(tmp_path: Path) -> None:
    file = schema.ModelT.InitFromPackedBuf(skip_connection())
    file.metadata = [schema.MetadataT(name="COMPRESSION_METADATA", buffer=0)]
    builder = Builder(1024)
    builder.Finish(file.Pack(builder), b"TFL3")
    with pytest.raises(ModelError, match="its tensors are compressed"):
        cut_model(load(tmp_path, bytes(builder.Output())), 0, 1)


def test_damage_that_only_the_writer_meets_is_one_clear_error(tmp_path: Path) -> None:
    """The reader does not look at the intermediate tensors of operators."""
    file = schema.ModelT.InitFromPackedBuf(skip_connection())
    file.subgraphs[0].operators[0].intermediates = [77]
    builder = Builder(1024)
    builder.Finish(file.Pack(builder), b"TFL3")
    damaged = builder.Output().replace(
        np.array([1, 77], np.int32).tobytes(), b"\xff\xff\xff\x7f...."
    )
    with pytest.raises(ModelError, match="whole: a part of it cannot be written"):
        cut_model(load(tmp_path, bytes(damaged)), 0, 1)
