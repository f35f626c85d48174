"""The power run of the real firmware, on this PC, led by the real code that measures energy."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from pytest_autodeploy.base.errors import BoardRefused
from pytest_autodeploy.model.load import load_model
from pytest_autodeploy.power.errors import PowerError, WiringFault
from pytest_autodeploy.power.live import PowerOptions
from pytest_autodeploy.power.measure import PowerMeter
from pytest_autodeploy.power.wiring import WORKS, probe
from pytest_autodeploy.reference.inputs import as_inputs
from pytest_autodeploy.rpc.messages import PowerOutcome
from pytest_autodeploy.session.model_session import ModelSession
from tests.helpers.firmware_support import SMALL, build, needs_host_build
from tests.helpers.pin_meter import AMPERES, VOLTS, PinBoard, PinMeter, pin_board
from tests.helpers.tflite_builder import single_operator, tensor

pytestmark = [
    needs_host_build,
    pytest.mark.skipif(sys.platform != "linux", reason="board and meter share Linux's clock"),
]
DAWDLE, FAIL = 5, 6
"""What the faulty engine is told by its input; dawdling takes 100 ms, as a busy PC is late."""

INFERENCE_US = 100_000.0
Bench = tuple[PinBoard, PinMeter]


@pytest.fixture(scope="module")
def program(pytestconfig: pytest.Config) -> Path:
    options = {"BOARD": "host", "ENGINE": "faulty", "CONFIG_DIR": SMALL}
    return build(pytestconfig, "firmware", **options) / "autodeploy"


@pytest.fixture
def bench(program: Path) -> Iterator[Bench]:
    with pin_board(program, timeout_s=15) as both:
        yield both


def session(board: PinBoard, folder: Path, order: int = DAWDLE) -> ModelSession:
    x, y = (tensor((1,), "int8", scale=1.0, name=name) for name in ("x", "y"))
    file = folder / "order.tflite"
    file.write_bytes(single_operator("RELU", [x], [y]))
    model = load_model(file)
    return ModelSession(model, board, inputs=as_inputs(np.array([[order]], np.int8), model))


def power_meter(meter: PinMeter) -> PowerMeter:
    return PowerMeter(PowerOptions(repeats=2, runs=4), lambda _board: meter)


def test_the_energy_of_an_inference_is_measured(bench: Bench, tmp_path: Path) -> None:
    board, meter = bench
    energy = power_meter(meter).measure(session(board, tmp_path))
    assert len(energy.windows) == 2
    assert energy.us == pytest.approx(INFERENCE_US, rel=0.1)
    assert energy.uj == pytest.approx(AMPERES * VOLTS * energy.us, rel=1e-3)


def test_the_board_counts_the_ticks_of_its_window(bench: Bench, tmp_path: Path) -> None:
    board, meter = bench
    power_meter(meter).measure(session(board, tmp_path))
    run = board.client.power_result()
    assert (run.outcome, run.inferences) == (PowerOutcome.DONE, 4)
    assert run.ticks / board.client.identify().tick_hz == pytest.approx(0.4, rel=0.1)


def test_a_meter_with_a_wrong_clock_is_found_out(bench: Bench, tmp_path: Path) -> None:
    board, meter = bench
    meter.rate_hz *= 2
    with pytest.raises(
        PowerError, match=r"by the meter's samples, but 4\d\d\.\d ms by the board's own"
    ):
        power_meter(meter).measure(session(board, tmp_path))


def test_a_board_that_does_not_see_its_trigger_answers_again(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_autodeploy.power.live.WAIT_S", 0.5)
    monkeypatch.setattr("pytest_autodeploy.power.handshake.WAIT_S", 0.5)
    board, meter = bench
    meter.connected = False
    with pytest.raises(WiringFault, match="the board ignores the trigger"):
        power_meter(meter).measure(session(board, tmp_path))
    assert board.client.identify().engine == "faulty"


def test_a_failing_inference_is_a_fault_of_the_window(bench: Bench, tmp_path: Path) -> None:
    board, meter = bench
    one = session(board, tmp_path)
    one.time_runs(1)
    one.prepare(as_inputs(np.array([[FAIL]], np.int8), one.model))
    one.ensure()
    one.arm_power(3, 1.0)
    with meter.streaming() as chunks:
        meter.trigger(True)
        next(chunks)
        meter.trigger(False)
        run = one.power_result()
    assert (run.outcome, run.inferences) == (PowerOutcome.INVOKE_FAILED, 0)


def test_wiring_is_checked_without_a_model(bench: Bench) -> None:
    board, meter = bench
    wiring = probe(board, board.client, meter)
    assert (wiring.trigger, wiring.in0, wiring.in1) == (WORKS, WORKS, WORKS)


def test_a_model_that_is_not_configured_is_refused(bench: Bench) -> None:
    board, _ = bench
    with pytest.raises(BoardRefused, match="configure has not succeeded"):
        board.client.arm_power(1, 100)
