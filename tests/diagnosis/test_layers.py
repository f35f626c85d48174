"""Two sides operator by operator: what each adds of its own, and what it only passes on."""

from __future__ import annotations

from typing import Any

import numpy as np

from pytest_autodeploy.diagnosis.layers import (
    Element,
    compare_layers,
    culprit,
    heaviest,
    parting,
)
from pytest_autodeploy.model.graph import Operator, Quantization, Tensor
from tests.helpers.reference_stand_ins import INT8, model, tensor

Values = dict[int, np.ndarray[Any, Any]]


def numbered(index: int, dtype: str = "int8", quantization: Quantization | None = INT8) -> Tensor:
    """Tensor ``index`` of four elements."""
    shown = tensor(f"t{index}", dtype=dtype, quantization=quantization)
    return Tensor(index, 0, shown.name, shown.shape, shown.dtype, shown.quantization)


def chain(*names: str, dtype: str = "int8", quantization: Quantization | None = INT8) -> Any:
    """A model of operators one after the other: operator i makes tensor i + 1 of tensor i."""
    tensors = [numbered(i, dtype, quantization) for i in range(len(names) + 1)]
    operators = tuple(
        Operator(i, 0, name, False, None, (tensors[i],), (tensors[i + 1],), None)
        for i, name in enumerate(names)
    )
    return model(tensors[0], outputs=(tensors[-1],), operators=operators)


def values(*of_tensors: float, dtype: str = "int8") -> Values:
    """Tensor 1 with four times the first value, and so on."""
    return {i: np.full((1, 4), value, dtype) for i, value in enumerate(of_tensors, 1)}


CONV = chain("CONV_2D", "RELU", "SOFTMAX")


def test_what_an_operator_adds_is_told_from_what_it_passes_on() -> None:
    """The second operator adds 10; the third makes 30 of that, which the PC does as well."""
    board, pc = values(1, 12, 35), values(1, 2, 5)
    layers = compare_layers(CONV, board, pc, {"ref": values(1, 2, 35)})
    assert [layer.apart for layer in layers] == [0, 10, 30]
    assert [layer.adds for layer in layers] == [0, 10, 0]
    found = culprit(layers)
    assert found is not None
    assert (found.position, found.operator, found.tensor_name) == (1, "RELU", "t2")


def test_an_operator_on_equal_inputs_adds_what_its_output_is_apart() -> None:
    """Nothing is known of operators alone, but the inputs of the second are equal."""
    layers = compare_layers(CONV, values(1, 12, 35), values(1, 2, 5), {})
    assert [layer.adds for layer in layers] == [0, 10, None]


def test_one_step_is_no_fault_unless_both_sides_run_the_same_kernels() -> None:
    board, pc = values(1, 3, 3), values(1, 2, 3)
    alone = {"tflm": values(1, 2, 3)}
    assert culprit(compare_layers(CONV, board, pc, alone)) is None
    exact = culprit(compare_layers(CONV, board, pc, alone, exact=True))
    assert exact is not None
    assert exact.label == "1 RELU"


def test_an_operator_may_differ_by_as_much_as_the_pcs_paths() -> None:
    """ref and xnnpack are 6 apart in the second operator; the board is 3 from the nearer."""
    alone = {"ref": values(1, 2, 5), "xnnpack": values(1, 8, 5)}
    layers = compare_layers(CONV, values(1, 11, 5), values(1, 2, 5), alone)
    assert (layers[1].adds, layers[1].allowed) == (3, 6)
    assert culprit(layers) is None
    assert heaviest(layers) is layers[1]


def test_a_float_operator_may_differ_by_a_share_of_its_peak() -> None:
    floats = chain("CONV_2D", "RELU", dtype="float32")
    pc = values(1, 1000, dtype="float32")
    near, far = values(1, 1000.05, dtype="float32"), values(1, 1001, dtype="float32")
    assert culprit(compare_layers(floats, near, pc, {"ref": pc})) is None
    assert culprit(compare_layers(floats, far, pc, {"ref": pc})) is not None


def test_integers_that_count_something_may_not_differ() -> None:
    """The index that ARG_MAX gives is no rounded value."""
    arg_max = chain("ARG_MAX", dtype="int32", quantization=None)
    board, pc = values(4, dtype="int32"), values(3, dtype="int32")
    assert culprit(compare_layers(arg_max, board, pc, {"ref": pc})) is not None


def test_a_nan_is_farther_than_anything() -> None:
    floats = chain("DIV", "RELU", dtype="float32")
    board, pc = values(np.nan, 5, dtype="float32"), values(1, 1, dtype="float32")
    layers = compare_layers(floats, board, pc, {"ref": values(1, 5, dtype="float32")})
    assert (layers[0].adds, layers[0].wrong) == (np.inf, True)


def test_the_first_elements_that_differ_are_shown() -> None:
    board, pc = values(1, 2, 3), values(1, 2, 3)
    board[2][0, 2] = 9
    found = parting(compare_layers(CONV, board, pc, {}))
    assert found is not None
    assert (found.elements, found.of_elements) == (1, 4)
    assert found.first == (Element((2,), 9, 2),)


def test_the_words_of_an_output_give_shape_and_quantisation() -> None:
    layer = compare_layers(CONV, values(1), values(1), {})[0]
    assert layer.output_text == "tensor 1 't1', int8 [1, 4], scale 0.5, zero point 3"


def test_operators_of_which_nothing_is_known_are_left_out() -> None:
    layers = compare_layers(CONV, {3: values(1)[1]}, values(1, 2, 3), {})
    assert [layer.position for layer in layers] == [2]
