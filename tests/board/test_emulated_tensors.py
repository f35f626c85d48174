"""Every tensor of a model that TFLM runs on an emulated board is the one that the PC computes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from pytest_autodeploy.base.errors import BoardRefused
from pytest_autodeploy.board.emulated import EmulatedBoard
from pytest_autodeploy.image.cmake import CMakeBuilder
from pytest_autodeploy.image.firmware import BuildOptions
from pytest_autodeploy.image.image import Image
from pytest_autodeploy.model.load import load_model
from pytest_autodeploy.rpc.messages import Capability
from tests.helpers.emulation import MACHINES, machine, needs_qemu
from tests.helpers.support import KWS

pytestmark = [
    needs_qemu,
    pytest.mark.skipif(
        not os.environ.get("AUTODEPLOY_TFLM_ROOT"),
        reason="AUTODEPLOY_TFLM_ROOT names no TFLM tree with its library",
    ),
]
MODEL = load_model(KWS)
PATIENCE_S = 60


@pytest.fixture(scope="module", params=MACHINES)
def board(request: pytest.FixtureRequest, firmware_cache: Path) -> Iterator[EmulatedBoard]:
    """Each machine with the keyword spotting example."""
    name = str(request.param)
    options = BuildOptions(cache=firmware_cache)
    builder = CMakeBuilder(machine(name), options, board_id=f"qemu:{name}")
    emulated = EmulatedBoard(f"qemu:{name}", machine(name), builder, timeout_s=PATIENCE_S)
    emulated.load(Image(MODEL))
    yield emulated
    emulated.close()


def test_every_tensor_is_the_one_of_tflm_on_the_pc(board: EmulatedBoard) -> None:
    from tflite_micro import runtime

    x = np.random.default_rng(0).integers(-128, 128, MODEL.inputs[0].shape).astype(np.int8)
    config = runtime.InterpreterConfig.kPreserveAllTensors
    tflm = runtime.Interpreter.from_bytes(MODEL.content, [], 1 << 20, config)
    tflm.set_input(x, 0)
    tflm.invoke()
    client = board.client
    assert Capability.ANY_TENSOR in client.identify().capabilities
    client.keep_tensors(True)
    client.configure()
    client.write_input(0, x.tobytes())

    client.invoke()

    for each in MODEL.tensors:
        info = client.describe_tensor(each.index)
        expected = tflm.GetTensor(each.index, 0)["tensor_data"]
        scale = (round(info.scale, 6), info.zero_point)
        assert (info.name, info.dtype, info.shape) == (each.name, each.dtype, each.shape)
        assert scale == (round(each.scale or 0, 6), each.zero_point or 0)
        assert client.read_tensor(each.index, info.size_bytes) == expected.tobytes(), each


def test_kept_tensors_need_a_larger_arena_and_the_refusal_says_so(board: EmulatedBoard) -> None:
    client = board.client
    client.keep_tensors(False)
    plain = client.configure().arena_used_bytes
    client.keep_tensors(True)
    assert client.configure().arena_used_bytes > plain
    for arena_bytes in (16, 1000, 5000, plain + 1024):
        with pytest.raises(BoardRefused, match=f"{arena_bytes} bytes is too small .* all tensors"):
            client.configure(arena_bytes)


def test_another_model_of_the_same_operators_is_proven_without_a_compiler(
    board: EmulatedBoard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "other.tflite"
    path.write_bytes(MODEL.content + bytes(16))
    other = load_model(path)
    first, pid = board.load(Image(MODEL)), board.pid

    def compile_nothing(*_: object) -> None:
        raise AssertionError("a compiler was started")

    monkeypatch.setattr(CMakeBuilder, "_compile", compile_nothing)
    second = board.load(Image(other))

    assert (first.model_sha256.hex(), second.model_sha256.hex()) == (MODEL.sha256, other.sha256)
    assert (first.build_id, pid) == (second.build_id, board.pid)
    assert board.load(Image(MODEL)).model_sha256.hex() == MODEL.sha256


def test_a_proven_model_takes_no_other_bytes(board: EmulatedBoard) -> None:
    client = board.client
    assert client.identify().model_sha256.hex() == MODEL.sha256

    with pytest.raises(BoardRefused, match="complete and proven"):
        client.write_model(bytes(16))
    assert client.prove_model(MODEL.size_bytes).hex() == MODEL.sha256
