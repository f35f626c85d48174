"""The simulated board's power run and its meter: modelled energy, simulated time, faults."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pytest_autodeploy.base.errors import BoardRefused
from pytest_autodeploy.board.simulated import SimulatedBoard
from pytest_autodeploy.catalog.boards import board_spec
from pytest_autodeploy.catalog.supply import power_states
from pytest_autodeploy.model.load import load_model
from pytest_autodeploy.power.errors import BoardRestarted, PowerError, WindowFault, WiringFault
from pytest_autodeploy.power.live import PowerOptions
from pytest_autodeploy.power.measure import PowerMeter
from pytest_autodeploy.power.meter import IN0, IN1
from pytest_autodeploy.power.simulated import SimulatedMeter
from pytest_autodeploy.power.wiring import UNKNOWN, WORKS, probe
from pytest_autodeploy.reference.inputs import random_inputs
from pytest_autodeploy.rpc.messages import PowerOutcome
from pytest_autodeploy.session.model_session import ModelSession
from pytest_autodeploy.sim.power import PowerRig
from tests.helpers.support import DIGITS

MODEL = load_model(DIGITS)
HP_HZ, LP_HZ = 192e6, 96e6


@contextmanager
def session(*arguments: str) -> Iterator[ModelSession]:
    board = SimulatedBoard(
        "sim:apollo4p_evb", board_spec("apollo4p_evb"), timeout_s=30, arguments=arguments
    )
    try:
        yield ModelSession(MODEL, board, inputs=random_inputs(MODEL, 1, 1))
    finally:
        board.close()


def meter(on: ModelSession, seed: int = 0, **options: Any) -> PowerMeter:
    assert isinstance(on.board, SimulatedBoard)
    simulated = SimulatedMeter(on.board, seed)
    return PowerMeter(PowerOptions(**options), lambda _board: simulated)


@pytest.fixture(scope="module")
def shared() -> Iterator[ModelSession]:
    """A session for the tests that leave it as it was."""
    with session() as one:
        yield one


@pytest.mark.parametrize(("mode", "hz"), [("HP", HP_HZ), ("LP", LP_HZ)])
def test_the_energy_is_the_modelled_one(shared: ModelSession, mode: Any, hz: float) -> None:
    energy = meter(shared).measure(shared, mode)
    watts = power_states(hz).running
    with shared.at_clock(mode):
        latency_us = shared.time_runs(1).median_us
    assert energy.source == "modelled"
    assert energy.us == pytest.approx(latency_us, rel=1e-4)
    assert energy.uj == pytest.approx(watts * latency_us, rel=1e-3)
    assert energy.mean_mw == pytest.approx(1e3 * watts, rel=1e-3)
    assert energy.idle_mw == pytest.approx(3.423, rel=1e-2)
    assert energy.seconds >= 1.0
    assert len(energy.windows) == 3
    assert shared.measured.power[mode] is energy


def test_the_session_keeps_its_own_clock(shared: ModelSession) -> None:
    own = shared.identity
    meter(shared, repeats=1).measure(shared, "LP")
    assert shared.identity == own
    shared.ensure()
    assert shared.identity.clock == own.clock


def test_a_window_of_a_minute_takes_no_minute(shared: ModelSession) -> None:
    began = time.monotonic()
    energy = meter(shared, window_s=10.0, repeats=1).measure(shared)
    assert energy.seconds >= 10
    assert time.monotonic() - began < 9


def test_the_same_seed_gives_the_same_samples(shared: ModelSession) -> None:
    first, again, other = (meter(shared, seed, repeats=1).measure(shared).uj for seed in (1, 1, 2))
    assert first == again != other


def test_runs_may_be_given(shared: ModelSession) -> None:
    energy = meter(shared).measure(shared, runs=2)
    assert energy.inferences == 2
    assert energy.seconds == pytest.approx(2e-6 * energy.us)


@pytest.mark.parametrize("wrong", [{"mode": "XP"}, {"runs": 0}])
def test_wrong_arguments(shared: ModelSession, wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"XP|runs=0"):
        meter(shared).measure(shared, **wrong)


def test_a_power_run_needs_a_configured_model(shared: ModelSession) -> None:
    shared.ensure()
    shared.board.client.reboot()
    with pytest.raises(BoardRefused, match="not configured"):
        shared.board.client.arm_power(1, 100)


@pytest.mark.parametrize(
    ("fault", "kind", "says"),
    [
        ("cut-trigger", WiringFault, r"the board ignores the trigger(.|\n)*GPIO 24"),
        ("cut-in0", WiringFault, r"In0 never moved(.|\n)*GPIO 22"),
        ("cut-in1", WiringFault, r"In1 never moved(.|\n)*GPIO 23"),
        ("swapped-lines", WiringFault, "In0 and In1 are swapped"),
        ("no-supply", WindowFault, "the supply is off: the meter sees 0 mV"),
        ("restart", BoardRestarted, "the board restarted during the window"),
    ],
)
def test_a_fault_has_its_own_message(fault: str, kind: type[PowerError], says: str) -> None:
    with session("--power-fault", fault) as broken, pytest.raises(kind, match=says):
        meter(broken, window_s=0.2, repeats=1).measure(broken)


def test_two_dead_lines_are_told_from_a_dead_trigger() -> None:
    faults = ("--power-fault", "cut-in0", "--power-fault", "cut-in1")
    dead = pytest.raises(WiringFault, match="neither In0 nor In1 moved")
    with session(*faults) as broken, dead:
        meter(broken).measure(broken)


@pytest.mark.parametrize(
    ("faults", "found"),
    [
        ((), (WORKS, WORKS, WORKS)),
        (("cut-trigger",), ("the board does not see it", UNKNOWN, UNKNOWN)),
        (("cut-in0",), (WORKS, "never moved", WORKS)),
        (("cut-in1",), (WORKS, WORKS, "never moved")),
        (("swapped-lines",), (WORKS, "swapped with In1", "swapped with In0")),
    ],
)
def test_wiring_is_checked_without_a_model(faults: tuple[str, ...], found: tuple[str, ...]) -> None:
    arguments = [part for fault in faults for part in ("--power-fault", fault)]
    spec = board_spec("apollo4p_evb")
    board = SimulatedBoard("sim:apollo4p_evb", spec, timeout_s=30, arguments=arguments)
    try:
        board.connect()
        wiring = probe(board, board.client, SimulatedMeter(board))
    finally:
        board.close()
    assert (wiring.trigger, wiring.in0, wiring.in1) == found
    assert wiring.works == (not faults)


class TestRig:
    def test_the_pins_follow_the_sequence(self) -> None:
        rig = armed()
        rig.trigger(True)
        levels = [rig.advance(0.01)[0].pins]
        rig.trigger(False)
        levels += [stretch.pins for stretch in rig.advance(2.0)]
        assert levels == [IN0 | IN1, IN0 | IN1, 0, IN1, 0]
        assert rig.result.outcome is PowerOutcome.DONE

    def test_the_window_lasts_what_the_inferences_take(self) -> None:
        rig = armed()
        rig.trigger(True)
        rig.trigger(False)
        _, window, *_ = rig.advance(2.0)
        assert window.seconds == pytest.approx(0.5)

    @pytest.mark.parametrize(
        ("high", "outcome"),
        [(False, PowerOutcome.NO_TRIGGER), (True, PowerOutcome.TRIGGER_STUCK)],
    )
    def test_every_wait_is_bounded(self, high: bool, outcome: PowerOutcome) -> None:
        rig = armed()
        rig.trigger(high)
        rig.advance(0.9)
        assert rig.result.outcome is PowerOutcome.NONE
        rig.advance(0.2)
        assert rig.result.outcome is outcome

    def test_a_board_that_restarted_knows_no_run(self) -> None:
        rig = armed("restart")
        rig.trigger(True)
        rig.trigger(False)
        assert rig.finish().outcome is PowerOutcome.NONE


def armed(*faults: str) -> PowerRig:
    rig = PowerRig(faults)
    rig.arm(5, 500_000, tick_hz=1e6, wait_s=1.0, power=power_states(HP_HZ))
    return rig


def test_an_order_that_makes_no_sense_is_answered(shared: ModelSession, tmp_path: Path) -> None:
    board = shared.board
    assert isinstance(board, SimulatedBoard)
    assert board.control({"op": "advance"}, 10)["ok"] is False
    assert board.control({"op": "trigger", "high": False}, 10) == {"ok": True}
