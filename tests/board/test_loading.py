"""A model that the host loads: the boards that take one, and what may happen meanwhile."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pytest_autodeploy.base.errors import BoardDied, BoardTimeout, WrongFirmware
from pytest_autodeploy.board.attached import AttachedBoard
from pytest_autodeploy.board.emulated import EmulatedBoard
from pytest_autodeploy.board.simulated import SimulatedBoard
from pytest_autodeploy.catalog.boards import board_spec
from pytest_autodeploy.catalog.reserve import parse_reserves, with_reserves
from pytest_autodeploy.image.cmake import CMakeBuilder
from pytest_autodeploy.image.firmware import BuildOptions
from pytest_autodeploy.image.image import Image
from pytest_autodeploy.model.load import load_model
from pytest_autodeploy.reference.inputs import random_inputs
from pytest_autodeploy.rpc.messages import BoardKind, Capability
from pytest_autodeploy.session.model_session import ModelSession
from tests.helpers.emulation import image, machine, needs_qemu, needs_tflm
from tests.helpers.every_call import counted
from tests.helpers.hardware_bench import install
from tests.helpers.simulated_board import simulated_board
from tests.helpers.support import DIGITS, KWS
from tests.helpers.tflite_builder import fully_connected

NAME = "apollo510_evb"
LITTLE_MRAM = ("--reserve", "mram=4031kb")
"""So that no model fits an image."""

DIGITS_IMAGE, KWS_IMAGE = Image(load_model(DIGITS)), Image(load_model(KWS))


def of_5_kb(seed: int) -> bytes:
    return fully_connected(depth=64, units=64, seed=seed)


@contextmanager
def board(*arguments: str, timeout_s: float = 20) -> Iterator[SimulatedBoard]:
    made = SimulatedBoard(
        f"sim:{NAME}",
        board_spec(NAME),
        timeout_s=timeout_s,
        arguments=(*LITTLE_MRAM, *arguments),
    )
    try:
        yield made
    finally:
        made.close()


def session_of(board: SimulatedBoard | EmulatedBoard, image: Image) -> ModelSession:
    return ModelSession(image.model, board, inputs=random_inputs(image.model, 2, seed=1))


def test_it_is_loaded_once_and_proven_before_each_test() -> None:
    with board() as simulated:
        identity = simulated.load(DIGITS_IMAGE)
        assert Capability.MODEL_UPLOAD in identity.capabilities
        assert identity.model_sha256.hex() == DIGITS_IMAGE.model.sha256
        with counted(simulated.client) as made:
            simulated.load(DIGITS_IMAGE)
        assert made == {"identify", "prove_model"}


def test_a_model_of_megabytes_runs_as_one_that_is_in_the_image(tmp_path: Path) -> None:
    large = image(tmp_path, fully_connected(depth=2200, units=2000))
    assert large.model.size_bytes > 4_128_768  # the MRAM of the chip
    made = SimulatedBoard(f"sim:{NAME}", board_spec(NAME), timeout_s=60)
    psram = session_of(made, large)
    outputs = psram.run().outputs[0]
    places = {place.part: place.memory for place in psram.board.client.describe_board().placements}
    assert places["model"] == "PSRAM"
    assert outputs.any()
    made.close()


def test_the_outputs_are_those_of_the_model_that_was_loaded() -> None:
    with board() as simulated:
        loaded = session_of(simulated, DIGITS_IMAGE).run().outputs[0]
    made = SimulatedBoard(f"sim:{NAME}", board_spec(NAME), timeout_s=20)
    assert (session_of(made, DIGITS_IMAGE).run().outputs[0] == loaded).all()
    made.close()


def test_after_a_restart_it_is_loaded_again() -> None:
    with board() as simulated:
        session = session_of(simulated, DIGITS_IMAGE)
        before = session.run().outputs[0]
        with counted(simulated.client) as made:
            session.restart()
        assert {"begin_model", "write_model", "prove_model"} <= made
        assert (session.run().outputs[0] == before).all()


def test_what_was_damaged_since_is_loaded_again(monkeypatch: pytest.MonkeyPatch) -> None:
    with board() as simulated:
        simulated.load(DIGITS_IMAGE)
        client = simulated.client
        prove, damaged = client.prove_model, [b"other"]
        monkeypatch.setattr(
            client, "prove_model", lambda size: damaged.pop() if damaged else prove(size)
        )
        with counted(client) as made:
            assert simulated.load(DIGITS_IMAGE).model_sha256.hex() == DIGITS_IMAGE.model.sha256
        assert "write_model" in made


def test_a_model_that_arrives_damaged_is_an_error_and_never_run() -> None:
    with board("--fault", "corrupt-model") as simulated:
        with pytest.raises(WrongFirmware, match=r"digits_cnn arrived damaged: .* SHA-") as caught:
            simulated.load(DIGITS_IMAGE)
        assert "the link loses bytes" in str(caught.value.hint)
        assert simulated.client.identify().model_sha256 == b""


@pytest.mark.parametrize(("kind", "call", "error"), [
    ("hang", "write_model", BoardTimeout),
    ("hang", "prove_model", BoardTimeout),
    ("die", "write_model", BoardDied),
])  # fmt: skip
def test_a_board_that_breaks_meanwhile_is_told_with_the_call(
    kind: str, call: str, error: type[Exception]
) -> None:
    with board("--fault", f"{kind}@{call}", timeout_s=0.5) as simulated:
        session = session_of(simulated, DIGITS_IMAGE)
        with pytest.raises(error, match=f"{call}: "):
            session.ensure()


def test_the_proof_has_a_deadline_that_fits_the_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    with board() as simulated:
        simulated.load(DIGITS_IMAGE)
        monkeypatch.setattr(simulated.client, "_call", lambda _call, timeout_s: [timeout_s])
        deadline_s: object = simulated.client.prove_model(10_000_000)
        assert deadline_s == 60.0  # 20 s and a second for 250 kB


def test_a_run_says_that_the_model_was_loaded(pytester: pytest.Pytester) -> None:
    name = f"sim:{NAME}"
    result = pytester.runpytest(
        *("--tflite", str(DIGITS), "--evb", name, "--evb-reserve", "mram=4031kb", "-v"),
        *("--autodeploy-artifacts", "library", "-k", "fits or artifacts"),
    )
    result.assert_outcomes(passed=1, failed=1, deselected=4)
    result.stdout.fnmatch_lines_random(
        [
            "digits_cnn cannot be delivered for apollo510_evb: it has 16.4 KB, and MRAM *",
            "Ran on *, model loaded over the link into PSRAM, arena in *",
        ]
    )
    kept = next(pytester.path.rglob("result.json")).read_text()
    assert '"model_loaded": true' in kept
    assert '"model_memory": "psram"' in kept


@pytest.mark.skipif(os.name != "posix", reason="the board needs a pty")
def test_a_board_that_is_attached_takes_a_model_that_fits(tmp_path: Path) -> None:
    with simulated_board(tmp_path, *LITTLE_MRAM, board=NAME) as simulated:
        simulated.flash(DIGITS_IMAGE.model.content)
        simulated.client.close()
        attached = AttachedBoard(
            f"sim:{NAME}", board_spec(NAME), simulated.ready["port"], timeout_s=20
        )
        assert attached.load(DIGITS_IMAGE).model_sha256.hex() == DIGITS_IMAGE.model.sha256
        text = "built for a smaller model than .*: begin_model: a model of .* does not fit"
        with pytest.raises(WrongFirmware, match=text):
            attached.load(KWS_IMAGE)
        attached.close()


@pytest.mark.skipif(os.name != "posix", reason="the bench needs a pty")
def test_boards_are_flashed_once_for_models_that_share_an_image(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = (image(tmp_path / str(n), of_5_kb(n), f"m{n}") for n in (1, 2))
    assert one.model.sha256 != other.model.sha256
    (tmp_path / "bench").mkdir()
    bench = install(monkeypatch, tmp_path / "bench")
    with simulated_board(tmp_path, *LITTLE_MRAM, board=NAME) as simulated:
        simulated.client.close()

        class Built:
            build_id = "b"

            def file(self, suffix: str) -> Path:
                del suffix
                return one.model.path

        def told(message: dict[str, str]) -> None:
            bench.flashed.append(message["op"])
            if message["op"] == "flash":
                simulated.control(op="flash", model=message["image"], build_id="b")

        bench.told = told
        flashing = bench.board(
            name=NAME,
            port=simulated.ready["port"],
            kind=BoardKind.SIMULATED,
            firmware_for=lambda _image: Built(),
        )
        for wanted in (one, other, one):
            assert flashing.load(wanted).model_sha256.hex() == wanted.model.sha256
        assert bench.flashed == ["flash"]
        flashing.close()
    bench.close()


@needs_qemu
@pytest.mark.slow
@pytest.mark.parametrize(("name", "kb"), [("mps2-an386", 4095), ("mps3-an547", 2047)])
def test_the_firmware_of_an_emulated_board_takes_it(name: str, kb: int, tmp_path: Path) -> None:
    """With the echo engine; tests/image has it with TFLM."""
    spec = with_reserves(machine(name), parse_reserves(f"mram={kb}kb"))
    options = BuildOptions(cache=tmp_path)
    builder = CMakeBuilder(spec, options, board_id=f"qemu:{name}", engine="echo")
    emulated = EmulatedBoard(f"qemu:{name}", spec, builder, timeout_s=20)
    wanted = [image(tmp_path / str(n), of_5_kb(n), f"m{n}") for n in range(2)]
    for each in wanted:
        identity = emulated.load(each)
        assert identity.model_sha256.hex() == each.model.sha256
    assert builder.placement(wanted[0]).model_loaded
    session_of(emulated, wanted[0]).run()
    emulated.close()


@needs_qemu
@needs_tflm
@pytest.mark.slow
def test_tflm_computes_the_same_from_a_model_that_was_loaded(tmp_path: Path) -> None:
    outputs = []
    for reserve in ("mram=512kb", "mram=4060kb"):
        spec = with_reserves(machine("mps2-an386"), parse_reserves(reserve))
        builder = CMakeBuilder(spec, BuildOptions(cache=tmp_path), board_id="qemu:mps2-an386")
        emulated = EmulatedBoard("qemu:mps2-an386", spec, builder, timeout_s=60)
        session = session_of(emulated, KWS_IMAGE)
        outputs.append(session.run().outputs[0])
        assert session.placement is not None
        assert session.placement.model_loaded is (len(outputs) == 2)
        emulated.close()
    assert (outputs[0] == outputs[1]).all()
