"""Times of hardware are believed when its clock is: by its own words and by this PC's clock."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from pytest_autodeploy.board.attached import AttachedBoard
from pytest_autodeploy.board.base import use_of
from pytest_autodeploy.catalog.boards import board_spec
from pytest_autodeploy.model.load import load_model
from pytest_autodeploy.power.errors import PowerError
from pytest_autodeploy.power.live import PowerOptions, measured
from pytest_autodeploy.power.meter import Meter, MeterFacts
from pytest_autodeploy.reference.inputs import random_inputs
from pytest_autodeploy.rpc.messages import BoardReport, ClockMode, ResetCause
from pytest_autodeploy.session.clock import BELIEVED_SHARE, doubt_of_start
from pytest_autodeploy.session.model_session import ModelSession
from tests.helpers.every_call import counted
from tests.helpers.firmware_support import needs_host_build
from tests.helpers.lying_board import BOARD, hardware, program_for
from tests.helpers.rpc_board import IDENTITY
from tests.helpers.tflite_builder import constant, single_operator, tensor

WELL = BoardReport((), 0, ResetCause.POWER_ON, "", 0)
HP = ClockMode.HIGH_PERFORMANCE


@pytest.fixture
def model_file(tmp_path: Path) -> Path:
    """A model whose output is its input."""
    x, y = tensor((1, 48), "int8", name="x"), tensor((1, 12, 4), "int8", name="y")
    inputs = [x, constant([1, 12, 4])]
    file = tmp_path / "same.tflite"
    file.write_bytes(single_operator("RESHAPE", inputs, [y], options={"new_shape": [1, 12, 4]}))
    return file


@pytest.fixture
def program(model_file: Path, pytestconfig: pytest.Config) -> Path:
    return program_for(pytestconfig, load_model(model_file))


@contextmanager
def session_on(model_file: Path, url: str) -> Iterator[ModelSession]:
    board = AttachedBoard(BOARD, board_spec(BOARD), url, timeout_s=30)
    model = load_model(model_file)
    try:
        yield ModelSession(model, board, inputs=random_inputs(model, 1, seed=1))
    finally:
        board.close()


@needs_host_build
def test_a_clock_that_is_right_is_believed_and_asked_once(program: Path, model_file: Path) -> None:
    with hardware(program) as url, session_on(model_file, url) as session:
        latency = session.latency(3)
        assert (latency.source, latency.doubt) == ("measured", "")
        with counted(session.board.client) as made:
            assert session.latency(3).doubt == ""
        assert "describe_board" not in made
        off = use_of(session.board).clock_ppm
        assert off is not None
        assert abs(off) <= 1e6 * BELIEVED_SHARE


@needs_host_build
@pytest.mark.parametrize(("rate", "says"), [(0.5, r"\(-(4|5)\d\."), (1.2, r"\(\+(1|2)\d\.")])
@pytest.mark.slow
def test_ticks_that_this_pc_does_not_see_are_doubted(
    program: Path, model_file: Path, rate: float, says: str
) -> None:
    with hardware(program, rate) as url, session_on(model_file, url) as session:
        doubt = session.latency(3).doubt
        off = use_of(session.board).clock_ppm
    assert off is not None
    assert off / 1e6 == pytest.approx(rate - 1, abs=0.1)
    assert doubt.startswith("HP was not reached: by this PC's clock the board's ticks are ")
    assert "Hz, not 1.00 GHz" in doubt
    assert re.search(says, doubt)


@pytest.mark.slow
@needs_host_build
def test_a_latency_of_another_clock_is_not_judged(
    program: Path, model_file: Path, pytester: pytest.Pytester
) -> None:
    (pytester.path / "m.tflite").write_bytes(model_file.read_bytes())
    options = ["--tflite=m.tflite", f"--evb={BOARD}", "--tflite-latency-budget=us=1e6"]
    with hardware(program, 0.5) as url:
        result = pytester.runpytest(*options, f"--evb-port={url}", "-k", "latency")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*NOT JUDGED*", "*HP was not reached: by this PC's clock*"])
    (file,) = pytester.path.rglob("result*.json")
    board = json.loads(file.read_text())
    assert "HP was not reached" in json.dumps(board)


class Ready:
    """A meter that is never asked for a sample."""

    def open(self) -> MeterFacts:
        return MeterFacts("ready", "modelled", 1e5, max_a=1.0, max_v=5.0)

    def supply(self, on: bool) -> None:
        """It is."""


@pytest.mark.slow
@needs_host_build
def test_energy_of_another_clock_is_not_measured(program: Path, model_file: Path) -> None:
    refused = pytest.raises(PowerError, match="HP was not reached: by this PC's clock")
    with hardware(program, 0.5) as url, session_on(model_file, url) as session, refused:
        measured(session, cast(Meter, Ready()), PowerOptions(), "HP", None)


def report(**facts: object) -> BoardReport:
    return replace(WELL, **facts)  # type: ignore[arg-type]


def test_a_board_that_measures_another_clock_than_it_says_is_doubted() -> None:
    assert doubt_of_start(IDENTITY, WELL, HP) == ""
    assert doubt_of_start(IDENTITY, report(clock_hz=190_000_000), HP) == ""
    assert doubt_of_start(IDENTITY, report(clock_hz=96_003_700), HP) == (
        "HP was not reached: the core runs at 96.0 MHz as the board measures, not 192.0 MHz"
    )


def test_a_board_that_stays_in_its_mode_is_doubted() -> None:
    slow = replace(IDENTITY, clock=ClockMode.LOW_POWER)
    assert doubt_of_start(slow, WELL, HP) == "HP was not reached: the board runs in LP"


def test_a_board_whose_start_failed_is_doubted() -> None:
    assert doubt_of_start(IDENTITY, report(failed_step="ns_power_config"), HP) == (
        "HP may not have been reached: ns_power_config failed at the board's start"
    )
