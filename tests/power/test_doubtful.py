"""Windows and captures that are not to be trusted: each is refused, or told, with its cause."""

from __future__ import annotations

import hashlib
import shutil
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from pytest_autodeploy.power.checks import check_alike, check_ending, check_window
from pytest_autodeploy.power.errors import CaptureError, WindowFault, WiringFault
from pytest_autodeploy.power.meter import IN1
from pytest_autodeploy.power.tally import IdleLevel, Tally
from pytest_autodeploy.power.window import Ending, Window
from tests.helpers.power_streams import FACTS, RATE_HZ, Stream, found, stream

PINS = {"in0": 22, "in1": 23, "trigger": 24}


def one(amperes: float = 0.02, samples: int = 200_000) -> Stream:
    return stream(np.full(samples, amperes))


def only(whole: Stream) -> Window:
    (window,) = found(whole.chunks(1 << 16))
    return window


def checked(window: Window) -> None:
    check_window(window, board="evb", pins=PINS, inferences=4, least_s=0.1, latency_us=25_000.0)


def test_a_current_below_zero_is_swapped_leads_not_an_energy() -> None:
    with pytest.raises(WindowFault, match=r"mean current is -20\.0 mA, not above 0") as raised:
        checked(only(one(-0.02)))
    assert "leads are swapped" in str(raised.value)


def test_a_current_of_zero_is_no_measurement() -> None:
    with pytest.raises(WindowFault, match="not above 0"):
        checked(only(one(0.0)))


def pulsed(samples: int) -> Stream:
    """In1 is high for some samples in the middle of the window."""
    whole = one()
    middle = (whole.start + whole.end) // 2
    whole.lines[middle : middle + samples] = IN1
    return whole


@pytest.mark.parametrize("microseconds", [1, 8, 19])
def test_a_pulse_below_20_us_is_no_edge(microseconds: int) -> None:
    assert only(pulsed(2 * microseconds)) == only(one())


def test_a_longer_pulse_ends_the_window_which_its_time_betrays() -> None:
    with pytest.raises(WindowFault, match=r"window is too short|window lasted"):
        checked(only(pulsed(50)))


def test_windows_of_one_measurement_that_differ_in_time_are_refused() -> None:
    whole = only(one())
    short = replace(whole, end=whole.start + whole.samples // 5)
    with pytest.raises(WindowFault, match=r"3 windows differ in time: 20\.0 ms to 100\.0 ms"):
        check_alike([whole, short, whole], board="evb")
    slightly = replace(whole, end=whole.end - whole.samples // 20)
    check_alike([whole, slightly], board="evb")


pyjls = pytest.importorskip("pyjls", reason="needs the extra 'joulescope'")


def unclosed(path: Path, count: int) -> Path:
    """A capture of three windows whose program was killed after ``count`` of them."""
    from pytest_autodeploy.power.capture import CaptureWriter
    from tests.helpers.captures import ABOUT

    whole = one(samples=100_000)
    writer = CaptureWriter(path.with_suffix(".open"), FACTS, ABOUT)
    length = len(whole.lines)
    for number in range(count):
        whole.first = number * length
        for chunk in whole.chunks(1 << 14):
            writer.write(chunk)
    whole.first = count * length
    for chunk in list(whole.chunks(1 << 14))[:14]:  # the third window begins, and has no end
        writer.write(chunk)
    writer._writer.flush()
    shutil.copyfile(path.with_suffix(".open"), path)
    writer.close()
    return path


def test_a_capture_that_was_not_closed_is_not_written_to_and_says_so(tmp_path: Path) -> None:
    from pytest_autodeploy.power.replay import Replay
    from pytest_autodeploy.power.replayed import windows_of

    path = unclosed(tmp_path / "a.jls", 2)
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    replay = Replay(path)
    assert replay.cut_short
    windows = windows_of(replay, board="evb", pins=PINS)
    replay.close()
    assert len(windows) == 2
    assert hashlib.sha256(path.read_bytes()).hexdigest() == before


def test_the_end_of_a_file_that_is_missing_says_so_too(tmp_path: Path) -> None:
    from pytest_autodeploy.power.replay import Replay
    from pytest_autodeploy.power.replayed import windows_of
    from tests.helpers.captures import noisy, saved

    path = saved(tmp_path / "a.jls", noisy())
    content = path.read_bytes()[:-200_000]
    path.write_bytes(content)
    with (
        pytest.raises((WiringFault, CaptureError), match="cut short"),
        closing(Replay(path)) as replay,
    ):
        windows_of(replay, board="evb", pins=PINS)
    assert path.read_bytes() == content


def test_a_whole_capture_is_read_where_it_is(tmp_path: Path) -> None:
    from pytest_autodeploy.power.replay import Replay
    from tests.helpers.captures import noisy, saved

    replay = Replay(saved(tmp_path / "a.jls", noisy()))
    assert not replay.cut_short
    assert replay.open().rate_hz == RATE_HZ


def test_lines_that_rise_together_at_the_end_touch_each_other() -> None:
    window = replace(only(one()), ending=Ending.BOTH)
    with pytest.raises(WiringFault, match="In0 and In1 rose together at the end"):
        check_ending(window, board="evb", pins=PINS)


@pytest.mark.parametrize(
    ("amperes", "volts", "clipped"),
    [
        (0.1, FACTS.max_v, 2),
        (FACTS.max_a, 1.8, 2),
        (-FACTS.max_a, 1.8, 2),
        (0.1, 0.99 * FACTS.max_v, 0),
    ],
)
def test_samples_at_either_bound_of_the_meter_are_counted(
    amperes: float, volts: float, clipped: int
) -> None:
    tally = Tally(FACTS)
    current, voltage = (np.full(3, value, np.float32) for value in (0.1, 1.8))
    current[:2], voltage[:2] = amperes, volts
    tally.add(current.astype(np.float64) * voltage, current, voltage)
    assert tally.clipped == clipped


@pytest.mark.parametrize(
    ("low", "clipped"), [(-0.99 * FACTS.max_a, 0), (-FACTS.max_a, 1), (-2 * FACTS.max_a, 1)]
)
def test_a_current_at_the_lower_bound_is_clipped(low: float, clipped: int) -> None:
    tally = Tally(FACTS)
    current, voltage = np.array([0.1, low], np.float32), np.full(2, 1.8, np.float32)
    tally.add(current.astype(np.float64) * voltage, current, voltage)
    assert tally.clipped == clipped


def test_a_tally_sums_what_came_and_counts_what_did_not() -> None:
    tally = Tally(FACTS)
    empty = np.empty(0, np.float32)
    tally.add(empty.astype(np.float64), empty, empty)
    assert (tally.samples, tally.peak) == (0, float("-inf"))
    for _ in range(2):
        current, voltage = np.array([1, 2, np.nan], np.float32), np.full(3, 2.0, np.float32)
        tally.add(current.astype(np.float64) * voltage, current, voltage)
    assert (tally.samples, tally.missing, tally.clipped) == (6, 2, 0)
    assert (tally.power, tally.current, tally.voltage, tally.peak) == (12, 6, 8, 4)
    lost = np.full(3, np.nan, np.float32)
    tally.add(lost.astype(np.float64), lost, lost)
    assert (tally.samples, tally.missing, tally.power) == (9, 5, 12)


def test_the_idle_level_is_that_of_the_last_five_whole_blocks() -> None:
    """A block has 10 ms, so at 1 kHz ten samples; it begins where its number says."""
    level = IdleLevel(1000.0)
    assert level.watts is None
    level.add(5, np.full(5, 9.0))  # half a block
    assert level.watts is None
    level.add(10, np.full(10, 1.0))
    assert level.watts == 1.0
    level.add(20, np.full(15, 2.0))  # a block and a half
    assert level.watts == 1.5
    level.add(35, np.full(5, 3.0))  # the rest of it
    assert level.watts == pytest.approx((1 + 2 + 2.5) / 3)
    level.add(40, np.full(50, 4.0))
    assert level.watts == 4.0
    level.add(90, np.full(9, 7.0))
    assert level.watts == 4.0
    level.clear()
    assert level.watts is None
    level.add(100, np.full(10, 6.0))
    assert level.watts == 6.0


def test_a_block_with_a_gap_is_no_level() -> None:
    level = IdleLevel(1000.0)
    level.add(0, np.full(6, 1.0))
    level.add(20, np.full(4, 1.0))
    assert level.watts is None


def test_a_slow_meter_has_blocks_of_one_sample() -> None:
    level = IdleLevel(10.0)
    level.add(0, np.array([1.0, 3.0]))
    assert level.watts == 2.0


@dataclass(frozen=True)
class Trusted:
    """A window of which everything is right: 1 s, 1000 samples, 1 W."""

    samples: int = 1000
    seconds: float = 1.0
    energy_j: float = 1.0
    mean_w: float = 1.0
    charge_c: float = 0.5
    mean_v: float = 2.0
    missing: int = 0
    clipped: int = 0
    ending: Ending = Ending.IN1


def held(
    window: Trusted,
    least_s: float = 0.0,
    latency_us: float | None = None,
    board_us: float | None = None,
) -> None:
    check_window(
        cast(Any, window),
        board="evb",
        pins=PINS,
        inferences=10,
        least_s=least_s,
        latency_us=latency_us,
        board_us=board_us,
    )


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        (Trusted(), {}),
        (Trusted(samples=100), {}),
        (Trusted(), {"least_s": 1.0 / 0.98}),
        (Trusted(), {"latency_us": 100_000 / 1.099}),
        (Trusted(), {"latency_us": 100_000 / 0.901}),
        (Trusted(), {"latency_us": 0.0}),
        (Trusted(), {"board_us": 1.09e6}),
        (Trusted(), {"board_us": 0.91e6}),
        (Trusted(mean_v=0.5), {}),
        (Trusted(energy_j=1.0009), {}),
        (Trusted(energy_j=0.9991), {}),
        (Trusted(charge_c=1e-12), {}),
    ],
)
def test_a_window_at_the_bounds_is_trusted(window: Trusted, expected: dict[str, float]) -> None:
    held(window, **expected)


@pytest.mark.parametrize(
    ("window", "expected", "says"),
    [
        (Trusted(samples=99), {}, "the window is too short"),
        (Trusted(), {"least_s": 1.001 / 0.98}, "the window is too short"),
        (Trusted(missing=1), {}, "1 of 1000 samples of the window are missing"),
        (Trusted(clipped=1), {}, "1 of 1000 samples of the window are clipped"),
        (Trusted(), {"latency_us": 100_000 / 1.101}, r"inferences times latency.* \(\+10.1 %\)"),
        (Trusted(), {"latency_us": 100_000 / 0.899}, r"inferences times latency.* \(-10.1 %\)"),
        (Trusted(), {"board_us": 1.11e6}, r"the board's own ticks \(\+11.0 %\)"),
        (Trusted(), {"board_us": 0.89e6}, r"the board's own ticks \(-11.0 %\)"),
        (Trusted(mean_v=0.499), {}, "the supply is off: the meter sees 499 mV"),
        (Trusted(energy_j=1.0011), {}, "is not mean power times time"),
        (Trusted(energy_j=0.9989), {}, "is not mean power times time"),
        (Trusted(charge_c=0.0), {}, "the mean current is 0.* not above 0"),
        (Trusted(charge_c=-0.5), {}, r"the mean current is -500 mA, not above 0"),
        (Trusted(energy_j=-1.0), {}, "not above 0"),
        (Trusted(energy_j=0.0), {}, "not above 0"),
    ],
)
def test_a_window_beyond_a_bound_is_refused(
    window: Trusted, expected: dict[str, float], says: str
) -> None:
    with pytest.raises(WindowFault, match=says):
        held(window, **expected)


@pytest.mark.parametrize(("longest", "differ"), [(1.1, False), (1.101, True)])
def test_windows_may_differ_by_a_tenth(longest: float, differ: bool) -> None:
    windows: Any = [Trusted(), Trusted(seconds=longest), Trusted(seconds=1.05)]
    if not differ:
        check_alike(windows, board="evb")
        return
    with pytest.raises(WindowFault, match=r"the 3 windows differ in time: 1\.00 s to 1\.10 s"):
        check_alike(windows, board="evb")


def test_only_in1_alone_ends_a_window() -> None:
    for ending, says in ((Ending.IN0, "are swapped"), (Ending.BOTH, "rose together")):
        with pytest.raises(WiringFault, match=says):
            held(Trusted(ending=ending))
    with pytest.raises(WiringFault) as raised:
        check_ending(cast(Any, Trusted(ending=Ending.IN0)), board="evb", pins={"in0": 5})
    assert raised.value.hint == "In0 belongs on GPIO 5, In1 on its pin."


def test_an_energy_that_is_no_sum_is_told_with_both_figures() -> None:
    says = "the energy 3.00 mJ is not mean power times time, 2.00 mJ"
    with pytest.raises(WindowFault, match=says):
        held(Trusted(energy_j=3e-3, mean_w=2e-3))
