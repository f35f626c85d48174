"""The modelled time of the simulated board against the figures that it was calibrated on."""

from __future__ import annotations

import math
from typing import Any

import pytest

from pytest_autodeploy.catalog.boards import Core
from pytest_autodeploy.model.graph import Operator, Tensor
from pytest_autodeploy.sim.timing import OPERATOR_OVERHEAD, layer_cycles

M4F: Core = "cortex-m4f"
M55: Core = "cortex-m55"


def tensor(*shape: int, constant: bool = False) -> Tensor:
    return Tensor(index=0, subgraph=0, name="t", shape=shape, dtype="int8", constant=constant)


def operator(
    name: str, inputs: list[Tensor], output: Tensor, macs: int | None = 0, **options: Any
) -> Operator:
    return Operator(
        index=0,
        subgraph=0,
        name=name,
        custom=False,
        resolver=None,
        inputs=tuple(inputs),
        outputs=(output,),
        macs=macs,
        options=options,
    )


MAP = tensor(1, 25, 5, 64)
FIRST = operator(
    "CONV_2D", [tensor(1, 49, 10, 1), tensor(64, 10, 4, 1, constant=True)], MAP, 320_000
)
DEPTHWISE = operator("DEPTHWISE_CONV_2D", [MAP, tensor(1, 3, 3, 64, constant=True)], MAP, 72_000)
POINTWISE = operator("CONV_2D", [MAP, tensor(64, 1, 1, 64, constant=True)], MAP, 512_000)
POOL = operator("AVERAGE_POOL_2D", [MAP], tensor(1, 1, 1, 64), filter_height=25, filter_width=5)
RESHAPE = operator("RESHAPE", [tensor(1, 1, 1, 64)], tensor(1, 64))
DENSE = operator(
    "FULLY_CONNECTED", [tensor(1, 64), tensor(12, 64, constant=True)], tensor(1, 12), 768
)
SOFTMAX = operator("SOFTMAX", [tensor(1, 12)], tensor(1, 12))

PUBLISHED = [  # Ambiq's application note, keyword spotting: cycles of each layer
    (FIRST, 9_176_380),
    (DEPTHWISE, 4_480_072),
    (POINTWISE, 8_577_368),
    (DEPTHWISE, 4_480_468),
    (POINTWISE, 8_578_178),
    (DEPTHWISE, 4_478_896),
    (POINTWISE, 8_576_362),
    (DEPTHWISE, 4_478_996),
    (POINTWISE, 8_577_472),
    (POOL, 111_772),
    (RESHAPE, 3_748),
    (DENSE, 25_644),
    (SOFTMAX, 17_574),
]


@pytest.mark.parametrize(("layer", "cycles"), PUBLISHED)
def test_a_layer_takes_what_was_published_for_the_m4f(layer: Operator, cycles: int) -> None:
    assert layer_cycles(layer, M4F) == pytest.approx(cycles, rel=0.005)


def test_keyword_spotting_takes_what_was_published_at_192_mhz() -> None:
    cycles = sum(layer_cycles(layer, M4F) for layer, _ in PUBLISHED)

    assert cycles / 192e6 == pytest.approx(0.3206, rel=0.005)


def test_convolutions_gain_most_of_the_m55_and_separable_ones_less() -> None:
    def gain(layer: Operator) -> float:
        return layer_cycles(layer, M4F) / layer_cycles(layer, M55)

    assert gain(FIRST) == pytest.approx(28.5 / 4.33, rel=0.01)
    assert gain(POINTWISE) == pytest.approx(gain(DEPTHWISE), rel=0.01)
    assert 1 < gain(POINTWISE) < gain(FIRST)


def test_an_unknown_operator_with_macs_costs_what_a_convolution_does() -> None:
    svdf = operator("SVDF", [tensor(1, 64)], tensor(1, 12), FIRST.macs)

    assert layer_cycles(svdf, M4F) == layer_cycles(FIRST, M4F)


@pytest.mark.parametrize("macs", [0, None])
def test_an_operator_without_known_macs_costs_by_its_elements(macs: int | None) -> None:
    small = operator("ADD", [tensor(1, 100), tensor(1, 100)], tensor(1, 100), macs)
    large = operator("ADD", [tensor(1, 1000), tensor(1, 1000)], tensor(1, 1000), macs)

    growth = layer_cycles(large, M4F) - OPERATOR_OVERHEAD
    assert growth == pytest.approx(10 * (layer_cycles(small, M4F) - OPERATOR_OVERHEAD), rel=0.01)
    assert growth > math.prod(large.outputs[0].shape)


def test_weights_are_not_counted_as_elements_that_are_read() -> None:
    table = operator("PRELU", [tensor(1, 10), tensor(10_000, constant=True)], tensor(1, 10))

    assert layer_cycles(table, M4F) < OPERATOR_OVERHEAD + 1000
