"""Whole runs on hardware: a fake J-Link that flashes a real simulated board, and broken boards."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_autodeploy.base.errors import BoardUnavailable
from pytest_autodeploy.board.attached import AttachedBoard
from pytest_autodeploy.board.hardware import HardwareBoard
from pytest_autodeploy.catalog.boards import board_spec
from pytest_autodeploy.image.image import Image
from pytest_autodeploy.model.load import load_model
from pytest_autodeploy.reference.inputs import random_inputs
from pytest_autodeploy.rpc.messages import BoardKind
from pytest_autodeploy.session.model_session import ModelSession
from tests.helpers import hardware_bench
from tests.helpers.hardware_bench import PROBE, SHORT_TIMEOUTS, Bench, install
from tests.helpers.simulated_board import SimulatedBoard, simulated_board
from tests.helpers.support import DIGITS, KWS

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the bench needs a pty")


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    folder = tmp_path / "bench"
    folder.mkdir()
    bench = install(monkeypatch, folder)
    yield bench
    bench.close()


@dataclass(frozen=True)
class ModelFile:
    """For the simulated board the model itself is the firmware."""

    path: Path
    build_id: str

    def file(self, suffix: str) -> Path:
        assert suffix == ".bin"
        return self.path


@pytest.fixture
def simulated(bench: Bench, tmp_path: Path) -> Iterator[SimulatedBoard]:
    """A simulated board whose flash is written by the fake J-Link."""
    with simulated_board(tmp_path) as simulated:
        simulated.client.close()

        def told(message: dict[str, str]) -> None:
            bench.flashed.append(message["op"])
            if message["op"] == "flash":
                answer = simulated.control(op="flash", model=message["image"], build_id="b")
                assert answer["ok"], answer

        bench.told = told
        yield simulated


def board_of(bench: Bench, simulated: SimulatedBoard) -> HardwareBoard:
    paths = {load_model(path).sha256: path for path in (DIGITS, KWS)}
    return bench.board(
        port=simulated.ready["port"],
        kind=BoardKind.SIMULATED,
        firmware_for=lambda image: ModelFile(paths[image.model.sha256], "b"),
        timeout_s=30.0,
    )


def test_models_take_turns_on_one_board(bench: Bench, simulated: SimulatedBoard) -> None:
    board = board_of(bench, simulated)
    for path in (DIGITS, DIGITS, KWS):
        model = load_model(path)
        session = ModelSession(model, board, inputs=random_inputs(model, 2, seed=1))
        outputs = session.run().outputs
        assert outputs[0].shape == (2, *model.outputs[0].shape)
        assert session.identity.model_sha256.hex() == model.sha256
    assert bench.flashed == ["flash", "flash"]
    board.close()


def test_a_board_that_is_attached_is_not_flashed_by_another_run(
    bench: Bench, simulated: SimulatedBoard
) -> None:
    model = load_model(DIGITS)
    simulated.flash(model.content)
    name, port = "sim:apollo4p_evb", simulated.ready["port"]
    attached = AttachedBoard(name, board_spec("apollo4p_evb"), port, timeout_s=30)
    attached.load(Image(model))
    flashing = board_of(bench, simulated)
    with pytest.raises(BoardUnavailable, match="used by another run"):
        flashing.load(Image(model))
    assert bench.flashed == []
    attached.close()
    flashing.load(Image(model))
    flashing.close()


def test_two_runs_cannot_use_one_probe(bench: Bench) -> None:
    bench.boot_old()
    image = Image(load_model(DIGITS))
    first, second = bench.board(), bench.board()
    first.load(image)
    with pytest.raises(BoardUnavailable, match=f"probe {PROBE} is used by another run"):
        second.load(image)
    first.close()
    second.load(image)
    second.close()


@pytest.mark.parametrize("behaviour", ["silent", "no port"])
def test_the_other_tests_of_a_broken_board_are_errors_with_the_reason(
    bench: Bench,
    pytester: pytest.Pytester,
    digits: Path,
    monkeypatch: pytest.MonkeyPatch,
    behaviour: str,
) -> None:
    pytester.makeconftest(
        "import pytest\n"
        "from tests.helpers.hardware_bench import BOARDS\n"
        "@pytest.fixture(scope='session')\n"
        "def evb(request): return BOARDS[0]\n"
    )
    bench.next = {"behaviour": behaviour}
    board = bench.board(timeouts=SHORT_TIMEOUTS)
    monkeypatch.setattr(hardware_bench, "BOARDS", [board])
    result = pytester.runpytest_inprocess("--tflite", digits.name)
    result.assert_outcomes(errors=5)
    result.stdout.fnmatch_lines(["*flash: the *; reset thr*(see autodeploy::*"])
    result.stdout.fnmatch_lines(["*apollo4p_evb: flash: the *"])
    assert (bench.flashed, bench.resets) == (["build1"], 1)
    board.close()
