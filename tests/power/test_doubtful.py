"""Windows and captures that are not to be trusted: each is refused, or told, with its cause."""

from __future__ import annotations

import hashlib
import shutil
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pytest_autodeploy.power.checks import check_alike, check_ending, check_window
from pytest_autodeploy.power.errors import CaptureError, WindowFault, WiringFault
from pytest_autodeploy.power.meter import IN1
from pytest_autodeploy.power.tally import Tally
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
