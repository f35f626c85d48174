"""What the generated sources of a model hold: operators, arenas, places and values."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pytest_autodeploy.base.errors import ModelDoesNotFit
from pytest_autodeploy.catalog.boards import board_spec
from pytest_autodeploy.deliver import ambiqsuite
from pytest_autodeploy.deliver.arena import arena_for
from pytest_autodeploy.deliver.dtypes import TYPES, c_type, c_values
from pytest_autodeploy.deliver.errors import CharacterizationError, DeliveryError
from pytest_autodeploy.deliver.sources import Sources
from pytest_autodeploy.model.arena import kernel_buffer_bytes
from pytest_autodeploy.model.graph import Model
from pytest_autodeploy.model.load import load_model
from tests.helpers.deliver_examples import MODELS, characterized, load, lstm
from tests.helpers.emulation import machine
from tests.helpers.support import DIGITS
from tests.helpers.tflite_builder import (
    constant,
    fully_connected,
    relu,
    running_sum,
    single_operator,
    tensor,
)

EVB = board_spec("apollo4p_evb")
QEMU = machine("mps2-an386")


@pytest.fixture
def model(tmp_path: Path) -> Model:
    return load(fully_connected(), tmp_path, "my model.v2")


def test_the_resolver_has_exactly_the_operators(tmp_path: Path) -> None:
    found = load(running_sum(), tmp_path)
    text = Sources(characterized(found), found, EVB).library()["model_model.cc"]

    assert "tflite::MicroMutableOpResolver<5>" in text
    assert re.findall(r"resolver->(\w+)\(\)", text) == list(found.resolver_methods)


def test_a_model_with_variables_has_an_arena_for_them(tmp_path: Path) -> None:
    with_variables = load(running_sum(), tmp_path)
    files = Sources(characterized(with_variables), with_variables, EVB).library()
    without = load(relu(), tmp_path)

    assert "#define model_VARIABLE_ARENA_BYTES 576" in files["model_api.h"]
    assert "MicroResourceVariables::Create" in files["model_model.cc"]
    plain = Sources(characterized(without), without, EVB).library()["model_model.cc"]
    assert "ariable_arena[" not in plain


def test_another_model_is_refused(tmp_path: Path, model: Model) -> None:
    with pytest.raises(CharacterizationError, match="is of the model"):
        Sources(characterized(load(relu(), tmp_path)), model, EVB)


def test_a_board_without_room_is_refused_with_the_sums(tmp_path: Path) -> None:
    large = load(relu((1, 800_000)), tmp_path)

    with pytest.raises(ModelDoesNotFit, match=r"the arena does not fit: arena .* > "):
        Sources(replace(characterized(large), arena_bytes=4_000_000), large, EVB)


@pytest.mark.parametrize("memory", ["sram", "SRAM"])
def test_the_memories_may_be_chosen(model: Model, memory: str) -> None:
    sources = Sources(characterized(model), model, EVB, arena_memory=memory)

    assert sources.placement.arena_memory == "sram"
    assert 'section(".sram_bss")' in sources.library()["my_model_v2_model.cc"]


def test_a_measured_arena_holds_for_the_same_core_and_tflm(model: Model) -> None:
    found = characterized(model, board=QEMU, source="emulated", engine_version="tree")

    assert arena_for(found, model, QEMU, "tree").margin_bytes == 0
    assert arena_for(found, model, QEMU, "tree").bytes == 3008
    for board, version in ((QEMU, "other"), (QEMU, None), (machine("mps3-an547"), "tree")):
        assert arena_for(found, model, board, version).margin_bytes >= 512


def test_a_modelled_arena_always_has_a_margin(model: Model) -> None:
    arena = arena_for(characterized(model, board=QEMU), model, QEMU, "pc")

    assert arena.margin_bytes == 512 + 4 * 4  # a sum for each of the four units
    assert arena.bytes == 3000 + 8 + arena.margin_bytes


def test_the_largest_convolution_counts_for_the_margin(tmp_path: Path) -> None:
    x = tensor((1, 8, 8, 4), "int8", scale=0.5)
    y = tensor((1, 8, 8, 4), "int8", scale=0.5)
    weights = constant(np.zeros((1, 3, 3, 4)), "int8", scale=0.5)
    bias = constant(np.zeros(4), scale=0.25)
    options = {"depth_multiplier": 1, "stride_w": 1, "stride_h": 1}
    content = single_operator("DEPTHWISE_CONV_2D", [x, weights, bias], [y], options=options)

    depthwise = kernel_buffer_bytes(load(content, tmp_path))

    assert depthwise == 4 * 4 + 4 * 1120  # sums, and four rows of 3 x 3 x 124 in steps of 16
    assert kernel_buffer_bytes(load(lstm(), tmp_path)) == 0


@pytest.mark.parametrize(
    ("dtype", "values", "text"),
    [
        ("int8", [-128, 127], "-128, 127,"),
        ("uint32", [4294967295], "4294967295U,"),
        ("int64", [-(2**63), 2**63 - 1], "INT64_MIN, 9223372036854775807LL,"),
        ("uint64", [2**64 - 1], "18446744073709551615ULL,"),
        ("bool", [True, False], "1, 0,"),
        ("float32", [1.0, -np.inf], "0x3f800000U, 0xff800000U,"),
        ("float16", [0.5], "0x3800,"),
        ("float64", [-0.0], "0x8000000000000000ULL,"),
    ],
)
def test_values_are_exact_in_c(dtype: str, values: list[float], text: str) -> None:
    assert c_values(TYPES[dtype], np.array(values, dtype).tobytes()).strip() == text


def test_a_type_that_c_lacks_is_refused() -> None:
    with pytest.raises(DeliveryError, match="'x' has the type complex64"):
        c_type("complex64", "x")


@pytest.mark.parametrize("name", MODELS)
def test_the_example_sets_every_input_and_checks_every_output(tmp_path: Path, name: str) -> None:
    found = load(MODELS[name], tmp_path, name)
    sources = Sources(characterized(found), found, EVB)
    text = sources.example("stdio")[f"{sources.name}_example_tensors.h"]

    for kind, tensors in (("input", found.inputs), ("output", found.outputs)):
        arrays = re.findall(rf"static const \w+ \w+_example_{kind}_\d+\[(\d+)\]", text)
        assert [int(count) for count in arrays] == [each.elements for each in tensors]


@pytest.mark.parametrize(
    ("board", "enabled"),
    [
        ("apollo3p_evb", "am_hal_cachectrl_enable"),
        ("apollo510_evb", "am_hal_cachectrl_dcache_enable"),
    ],
)
def test_the_example_for_ambiqsuite_enables_the_cache_and_says_how_it_is_built(
    board: str, enabled: str
) -> None:
    spec, model = board_spec(board), load_model(DIGITS)
    files = ambiqsuite.files(Sources(characterized(model), model, spec))
    assert enabled in str(files["src/example_console.h"])
    readme = str(files["README.md"])
    assert "make -C gcc NEURALSPOT_ROOT=DIR" in readme
    assert f"0x{spec.load_address:X}" in readme


def test_padding_is_room_beyond_the_arena_that_ran_the_model(model: Model) -> None:
    found = characterized(model)
    plain, padded = (
        Sources(found, model, EVB, arena_padding=size).arena.bytes for size in (0, 2048)
    )
    assert padded == plain + 2048
