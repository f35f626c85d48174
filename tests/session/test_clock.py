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
from pytest_autodeploy.session.clock import (
    BELIEVED_SHARE,
    doubt_of_rate,
    doubt_of_start,
    tick_rate,
)
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


def test_a_board_that_does_not_tell_its_clock_is_doubted() -> None:
    silent = replace(IDENTITY, clocks_hz=(0, 0))
    assert doubt_of_start(silent, WELL, HP) == "the board does not tell its clock"
    one = replace(IDENTITY, clocks_hz=(0, 192_000_000))
    assert doubt_of_start(one, WELL, HP) == ""


@pytest.mark.parametrize("off", [1 - 0.0199, 1 + 0.0199])
def test_a_clock_within_two_percent_is_believed(off: float) -> None:
    assert doubt_of_start(IDENTITY, report(clock_hz=round(192e6 * off)), HP) == ""
    assert doubt_of_rate(IDENTITY, IDENTITY.tick_hz * off) == ""


@pytest.mark.parametrize(("off", "percent"), [(1 - 0.0201, "-2.0 %"), (1.0201, "+2.0 %")])
def test_a_clock_beyond_two_percent_is_not(off: float, percent: str) -> None:
    assert doubt_of_start(IDENTITY, report(clock_hz=round(192e6 * off)), HP) != ""
    doubt = doubt_of_rate(IDENTITY, IDENTITY.tick_hz * off)
    assert doubt.startswith("HP was not reached: by this PC's clock the board's ticks are ")
    assert doubt.endswith(f"not 1.00 MHz ({percent})")


class OtherClock:
    """A board whose ticks are those of a PC's clock that this test turns, at rates in turn."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *rates: float) -> None:
        self.now, self.ticks, self.rates, self.asked = 100.0, 0.0, list(rates), 0
        monkeypatch.setattr("pytest_autodeploy.session.clock.time.monotonic", lambda: self.now)

    def ask(self) -> BoardReport:
        self.asked += 1
        if self.asked % 2 == 1:
            self.rate = self.rates.pop(0)
            self.ticks = 1000.0 if self.rate else 0.0
        return report(ticks=round(self.ticks))

    def infer(self) -> None:
        self.now += 0.4
        self.ticks += 0.4 * self.rate

    def measured(self) -> float | None:
        return tick_rate(IDENTITY, self.ask, self.infer)


def test_the_first_rate_that_can_be_believed_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    board = OtherClock(monkeypatch, 1.01e6)
    assert board.measured() == pytest.approx(1.01e6)
    assert board.now == pytest.approx(101.2)  # a second, in whole inferences
    late = OtherClock(monkeypatch, 0.5e6, 0.99e6)
    assert late.measured() == pytest.approx(0.99e6)


def test_of_three_rates_that_are_wrong_the_middle_one_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    board = OtherClock(monkeypatch, 0.7e6, 0.3e6, 0.5e6)
    assert board.measured() == pytest.approx(0.5e6)
    assert board.asked == 6


def test_a_board_without_ticks_has_no_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    board = OtherClock(monkeypatch, 0)
    assert board.measured() is None
    assert board.asked == 1
