"""The library registers kernels for the types of its model, where the TFLM tree has such."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_autodeploy.catalog.boards import board_spec
from pytest_autodeploy.deliver.generate import generate
from pytest_autodeploy.deliver.typed import typed_registrations
from pytest_autodeploy.image.firmware import BuildOptions
from pytest_autodeploy.image.trees import TflmTree, find_tflm
from pytest_autodeploy.model.load import load_model
from tests.helpers.deliver_builds import characterization
from tests.helpers.emulation import needs_qemu, needs_tflm
from tests.helpers.support import DIGITS
from tests.helpers.tflite_builder import relu

MODEL = load_model(DIGITS)
RESOLVER = """
#include "tensorflow/lite/micro/kernels/conv.h"
TfLiteStatus AddConv2D(
    const TFLMRegistration& registration = Register_CONV_2D()) {}
TfLiteStatus AddFullyConnected(const TFLMRegistration& registration = R()) {}
TfLiteStatus AddReshape() {}
"""
CONV = """
TFLMRegistration Register_CONV_2D_INT8();
TFLMRegistration Register_FULLY_CONNECTED_INT8();
TFLMRegistration Register_RESHAPE_INT8();
"""


@pytest.fixture
def tree(tmp_path: Path) -> TflmTree:
    """A TFLM tree whose headers offer typed kernels, of which the library has one."""
    micro = tmp_path / "tensorflow" / "lite" / "micro"
    (micro / "kernels").mkdir(parents=True)
    (micro / "micro_mutable_op_resolver.h").write_text(RESOLVER)
    (micro / "kernels" / "conv.h").write_text(CONV)
    library = tmp_path / "lib" / "libtensorflow-microlite-cm4-gcc-release.a"
    library.parent.mkdir()
    library.write_bytes(
        b"!<arch>\n\0_ZN6tflite22Register_CONV_2D_INT8Ev\0"
        b"_ZN6tflite21Register_CONV_2D_INT8Ev\0_ZN6tflite21Register_RESHAPE_INT8Ev\0"
    )
    return TflmTree(tmp_path)


def test_a_kernel_is_typed_where_model_header_method_and_library_agree(tree: TflmTree) -> None:
    """FULLY_CONNECTED is not in the library, RESHAPE's method takes no registration."""
    assert {"AddConv2D", "AddFullyConnected"} < set(MODEL.resolver_methods)
    typed = typed_registrations(MODEL, tree, "cortex-m4f")
    assert typed == {"AddConv2D": "tflite::Register_CONV_2D_INT8()"}


def test_a_model_of_floats_gets_the_kernels_for_all_types(tree: TflmTree, tmp_path: Path) -> None:
    file = tmp_path / "float.tflite"
    file.write_bytes(relu())
    assert typed_registrations(load_model(file), tree, "cortex-m4f") == {}


@needs_tflm
@needs_qemu
def test_the_library_takes_less_than_one_of_all_types(tmp_path: Path) -> None:
    options = BuildOptions(cache=tmp_path / "cache")
    board = board_spec("mps2-an386", "machine")
    if not typed_registrations(MODEL, find_tflm(), board.core):
        pytest.skip("this TFLM tree has no typed kernels")
    delivery = generate(
        MODEL, board, tmp_path / "out", ["library"], characterization(MODEL), options
    )
    library, _, of_all_types = delivery.footprints
    assert of_all_types.what == "library, all types"
    assert library.flash_bytes < of_all_types.flash_bytes
