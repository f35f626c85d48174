"""The real classes of the joulescope package, driven by a stand-in for its native driver."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("joulescope", reason="needs the extra 'joulescope'")

from joulescope.v1 import driver as package

from pytest_autodeploy.base.lease import holder_of, take_lease
from pytest_autodeploy.board.pooled import PooledBoard
from pytest_autodeploy.board.select import make_board
from pytest_autodeploy.catalog.boards import IO_VOLTAGES
from pytest_autodeploy.power.checks import check_window
from pytest_autodeploy.power.choose import Meters
from pytest_autodeploy.power.errors import MeterFailed, MeterUnavailable, WindowFault
from pytest_autodeploy.power.handshake import Handshake
from pytest_autodeploy.power.joulescope import Joulescope
from pytest_autodeploy.power.meter import BOTH
from pytest_autodeploy.power.plan import WAIT_S
from pytest_autodeploy.power.window import Window, WindowFinder
from pytest_autodeploy.settings.meter_choice import board_has_meter
from pytest_autodeploy.settings.options import OPTIONS
from pytest_autodeploy.settings.settings import resolve
from tests.helpers.fake_joulescope import POWER, FakeDriver
from tests.helpers.rigs import TYPE, settings_of, write_rig

PINS = {"in0": 22, "in1": 23, "trigger": 24}
PATHS = {"js110": "u/js110/001234", "js220": "u/js220/000415", "js320": "u/js320/8w2a"}
INFERENCES, LATENCY_S = 10, 0.012


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeDriver]:
    """The package's own driver wrapper, on the stand-in."""
    fake = FakeDriver()
    monkeypatch.setattr(package, "Driver", lambda: fake)
    monkeypatch.setattr(package.DriverWrapper, "__singleton__", None)
    monkeypatch.setattr(package.atexit, "register", lambda _function: None)
    yield fake
    fake.finalize()


@pytest.fixture(params=PATHS)
def meter(request: pytest.FixtureRequest, driver: FakeDriver) -> Iterator[Joulescope]:
    """An open Joulescope of each model."""
    driver.paths.append(PATHS[request.param])
    joulescope = Joulescope()
    joulescope.open()
    yield joulescope
    joulescope.close()


@pytest.fixture
def js220(driver: FakeDriver) -> Iterator[Joulescope]:
    """An open JS220."""
    driver.paths.append(PATHS["js220"])
    joulescope = Joulescope()
    joulescope.open()
    yield joulescope
    joulescope.close()


def measured(meter: Joulescope, driver: FakeDriver) -> Window:
    """One window through the whole handshake."""
    facts = meter.open()
    handshake = Handshake(
        meter,
        facts,
        WindowFinder(facts),
        board="evb",
        pins=PINS,
        outcome=driver.outcome,
    )
    with meter.streaming() as chunks:
        driver.arm(INFERENCES, LATENCY_S, WAIT_S)
        return handshake.window(chunks, 1.0)


def test_the_energy_of_a_window_is_exact(meter: Joulescope, driver: FakeDriver) -> None:
    window = measured(meter, driver)
    assert window.samples == round(INFERENCES * LATENCY_S * meter.open().rate_hz)
    truth = INFERENCES * LATENCY_S * POWER.running
    assert window.energy_j == pytest.approx(truth, rel=1e-5)
    assert window.idle_w == pytest.approx(POWER.sleeping, rel=1e-5)
    assert window.missing == 0


def test_windows_follow_one_another_in_one_stream(meter: Joulescope, driver: FakeDriver) -> None:
    facts = meter.open()
    shake = Handshake(
        meter, facts, WindowFinder(facts), board="evb", pins=PINS, outcome=driver.outcome
    )
    with meter.streaming() as chunks:
        energies = []
        for _ in range(3):
            driver.arm(INFERENCES, LATENCY_S, WAIT_S)
            energies.append(shake.window(chunks, 1.0).energy_j)
    assert energies == pytest.approx([INFERENCES * LATENCY_S * POWER.running] * 3, rel=1e-5)


def test_the_facts_name_model_and_serial_number(meter: Joulescope) -> None:
    facts = meter.open()
    model, _, serial = facts.name.removeprefix("Joulescope ").partition("-")
    assert f"u/{model.lower()}/{serial.lower()}" in {path.lower() for path in PATHS.values()}
    assert facts.source == "measured"
    assert facts.rate_hz == (2e6 if model == "JS110" else 1e6)


def test_the_supply_is_switched(meter: Joulescope, driver: FakeDriver) -> None:
    topic = "i/range/select" if meter.open().name.startswith("Joulescope JS110") else "i/range/mode"
    before = driver.values(topic)[-1]
    meter.supply(False)
    meter.supply(True)
    *_, off, on = driver.values(topic)
    assert off != on == before


def test_a_js110_drives_its_output_with_the_boards_voltage(driver: FakeDriver) -> None:
    driver.paths.append(PATHS["js110"])
    joulescope = Joulescope(io_voltage=3.3)
    joulescope.open()
    assert driver.values("extio/voltage") == [3300]
    joulescope.close()


@pytest.mark.parametrize(
    ("board_id", "millivolts"), [("apollo3p_evb", 3300), ("apollo510_evb", 1800)]
)
@pytest.mark.parametrize("given", [None, 2.5])
def test_the_voltage_is_that_of_the_catalog_unless_one_is_given(
    driver: FakeDriver, board_id: str, millivolts: int, given: float | None
) -> None:
    driver.paths.append(PATHS["js110"])
    options = {"autodeploy_power": "joulescope", "autodeploy_evb": [board_id]}
    settings = resolve(OPTIONS, options.get, lambda _: None, Path("/"))
    meters = Meters(settings)
    meters.power_up(make_board(board_id, settings, None), {"io_voltage": given} if given else {})
    assert driver.values("extio/voltage") == [2500 if given else millivolts]
    meters.close()


def test_the_voltages_of_the_catalog_are_those_of_the_package() -> None:
    from joulescope.parameters_v1 import PARAMETERS

    (parameter,) = [each for each in PARAMETERS if each.name == "io_voltage"]
    assert [f"{volts:.1f}V" for volts in IO_VOLTAGES] == [name for name, *_ in parameter.options]


def test_lines_are_unpacked_sample_by_sample(js220: Joulescope, driver: FakeDriver) -> None:
    with js220.streaming() as chunks:
        driver.arm(INFERENCES, LATENCY_S, WAIT_S)
        js220.trigger(True)
        seen = {int(level) for _ in range(20) for level in next(chunks).lines}
    assert BOTH in seen


def test_nothing_streams_after_the_context(js220: Joulescope, driver: FakeDriver) -> None:
    with js220.streaming() as chunks:
        next(chunks)
    assert driver.values("i/ctrl") == driver.values("gpi/1/ctrl") == [1, 0]


def test_a_lost_block_is_a_fault_of_the_window(js220: Joulescope, driver: FakeDriver) -> None:
    driver.loses_one = True
    window = measured(js220, driver)
    with pytest.raises(WindowFault, match="20000 of 120000 samples of the window are missing"):
        check_window(window, board="evb", pins=PINS, inferences=10, least_s=0.1, latency_us=12_000)


def test_a_device_that_disappears_while_streaming(js220: Joulescope, driver: FakeDriver) -> None:
    driver.gone_after = 3
    with (
        pytest.raises(MeterFailed, match="JS220-000415 disappeared while streaming"),
        js220.streaming() as chunks,
    ):
        for _ in chunks:
            pass
    js220.close()


def test_a_device_that_falls_silent(
    js220: Joulescope, driver: FakeDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_autodeploy.power.joulescope.SILENCE_S", 0.1)
    driver.silent_after = 2
    with (
        pytest.raises(MeterFailed, match=r"sends no samples after 0\.1 s"),
        js220.streaming() as chunks,
    ):
        for _ in chunks:
            pass


def test_samples_that_nobody_takes_do_not_pile_up(js220: Joulescope, driver: FakeDriver) -> None:
    js220._queue.maxsize = 4
    with js220.streaming() as chunks:
        driver.until(lambda: js220._lost)
        with pytest.raises(MeterFailed, match="faster than samples are taken"):
            next(chunks)


def test_a_device_that_another_program_holds(driver: FakeDriver) -> None:
    driver.paths.append(PATHS["js220"])
    driver.held = True
    with pytest.raises(MeterUnavailable, match=r"cannot open Joulescope JS220-000415: .*BUSY") as e:
        Joulescope().open()
    assert "Joulescope UI" in str(e.value)


def test_a_meter_belongs_to_one_run_while_it_is_open(driver: FakeDriver) -> None:
    driver.paths.append(PATHS["js220"])
    joulescope = Joulescope()
    lease = take_lease("meter 000415", 1)
    with pytest.raises(MeterUnavailable, match="JS220-000415 is used by another run: process "):
        joulescope.open()
    lease.release()
    joulescope.open()
    assert holder_of("meter 000415") is not None
    joulescope.close()
    assert holder_of("meter 000415") is None
    driver.held = True
    with pytest.raises(MeterUnavailable, match="cannot open"):
        joulescope.open()
    assert holder_of("meter 000415") is None


@pytest.mark.parametrize("shared", [False, True])
def test_a_meter_of_a_rig_supplies_the_board_that_is_leased(
    driver: FakeDriver, tmp_path: Path, shared: bool
) -> None:
    """One that serves two boards is free for the other one unless it measures."""
    driver.paths += PATHS.values()
    ports = {"a": "/dev/a", "b": "/dev/b"}
    more = {"a": 'meter = "JS220-000415"', "b": f'meter = "{"000415" if shared else "001234"}"'}
    settings = settings_of(write_rig(tmp_path / "lab.toml", ports, **more))
    (board_id,) = settings.evb
    assert board_has_meter(board_id, settings)
    board, meters = make_board(board_id, settings, None), Meters(settings)
    assert isinstance(board, PooledBoard)
    meters.power_up(board, {})
    assert driver.values("i/range/mode") == []
    board.rig_board = settings.rig.boards[0]  # type: ignore[union-attr]
    board.on_lease(board.rig_board)
    assert driver.values("i/range/mode")
    assert (holder_of("meter 000415") is None) == shared
    meter = meters.meter_of(board)
    assert meter is not None
    meter.open()
    meters._let_go(board, meter)
    assert (holder_of("meter 000415") is None) == shared
    board.on_give_up(board.rig_board)
    assert holder_of("meter 000415") is None
    meters.close()


def test_a_board_without_a_meter_is_left_out_where_one_is_asked_for(
    driver: FakeDriver, tmp_path: Path
) -> None:
    ports = {"a": "/dev/a", "b": "/dev/b"}
    rig = write_rig(tmp_path / "lab.toml", ports, b='meter = "000415"')
    assert not board_has_meter(TYPE, settings_of(rig))
    settings = settings_of(rig, power="joulescope")
    board, meters = make_board(TYPE, settings, None), Meters(settings)
    assert isinstance(board, PooledBoard)
    meters.power_up(board, {})
    assert board.avoid == {"a"}
    meters.close()


@pytest.mark.parametrize(
    ("paths", "serial", "says"),
    [
        ((), None, "no Joulescope found"),
        (("js110", "js220"), None, "several.*\n.*JS110-001234, JS220-000415"),
        (("js220",), "7", "no Joulescope with the serial number 7\n.*JS220-000415"),
    ],
)
def test_a_choice_that_cannot_be_made(
    driver: FakeDriver, paths: tuple[str, ...], serial: str | None, says: str
) -> None:
    driver.paths += [PATHS[name] for name in paths]
    with pytest.raises(MeterUnavailable, match=f"(?s){says}"):
        Joulescope(serial).open()


def test_the_serial_number_chooses(driver: FakeDriver) -> None:
    driver.paths += PATHS.values()
    joulescope = Joulescope("001234")
    assert joulescope.open().name == "Joulescope JS110-001234"
    joulescope.close()
