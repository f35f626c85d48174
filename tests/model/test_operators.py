"""The resolver methods of TFLM for the operators of a model."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_autodeploy.model.load import load_model
from pytest_autodeploy.model.operators import BUILTINS, CUSTOM, resolver_method
from tests.helpers import tflite_builder as build


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("CONV_2D", "AddConv2D"),
        ("DEPTHWISE_CONV_2D", "AddDepthwiseConv2D"),
        ("FULLY_CONNECTED", "AddFullyConnected"),
        ("RELU6", "AddRelu6"),
        ("ADD_N", "AddAddN"),
        ("L2_POOL_2D", "AddL2Pool2D"),
        ("BATCH_TO_SPACE_ND", "AddBatchToSpaceNd"),
        ("SPLIT_V", "AddSplitV"),
        ("SELECT_V2", "AddSelectV2"),
        ("SVDF", "AddSvdf"),
        ("PADV2", "AddPadV2"),
        ("CUMSUM", "AddCumSum"),
        ("BATCH_MATMUL", "AddBatchMatMul"),
        ("UNIDIRECTIONAL_SEQUENCE_LSTM", "AddUnidirectionalSequenceLSTM"),
    ],
)
def test_builtin_operators(name: str, method: str) -> None:
    assert resolver_method(name, custom=False) == method


@pytest.mark.parametrize(
    ("code", "method"),
    [
        ("CIRCULAR_BUFFER", "AddCircularBuffer"),
        ("TFLite_Detection_PostProcess", "AddDetectionPostprocess"),
        ("SignalPCAN", "AddPCAN"),
        ("SignalRfft", "AddRfft"),
        ("TFLM_DECODE", "AddDecode"),
    ],
)
def test_custom_operators_of_tflm(code: str, method: str) -> None:
    assert resolver_method(code, custom=True) == method
    assert resolver_method(code, custom=False) is None


def test_operators_without_a_kernel_have_no_method() -> None:
    assert resolver_method("CONV_3D", custom=False) is None
    assert resolver_method("CONV_2D", custom=True) is None
    assert resolver_method("MyOperator", custom=True) is None


def test_no_two_operators_share_a_method() -> None:
    methods = {resolver_method(name, custom=False) for name in BUILTINS} | set(CUSTOM.values())
    assert len(methods) == len(BUILTINS) + len(CUSTOM) == 117


def test_a_model_lists_each_method_once(tmp_path: Path) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(build.running_sum())
    methods = ("AddAdd", "AddAssignVariable", "AddCallOnce", "AddReadVariable", "AddVarHandle")
    assert load_model(path).resolver_methods == methods
