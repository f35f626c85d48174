"""Windows in streams with known answers: to the sample, and within 0.1 % of the energy."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator

import numpy as np
import pytest

from pytest_autodeploy.power.checks import check_supply, check_window
from pytest_autodeploy.power.errors import PowerError, WindowFault, WiringFault
from pytest_autodeploy.power.lines import level_changes
from pytest_autodeploy.power.meter import BOTH, IN0, IN1, Chunk
from pytest_autodeploy.power.waveform import MOST_BINS
from pytest_autodeploy.power.window import Window, WindowFinder
from pytest_autodeploy.session.energy import SHOWN_BINS
from tests.helpers.power_streams import FACTS, RATE_HZ, VOLTS, Array, Stream, found, stream

PINS = {"in0": 22, "in1": 23, "trigger": 24}
SECOND = int(RATE_HZ)
RANDOM = np.random.default_rng(1)

SHAPES = {
    "rectangle": np.full(SECOND // 10, 0.02),
    "ramp": np.linspace(0, 0.04, SECOND // 10),
    "noise": 0.02 + 0.02 * RANDOM.standard_normal(SECOND // 10),
    "spikes": np.where(np.arange(SECOND // 10) % 1000 == 0, 5.0, 0.001),
    "one inference of 50 us": np.full(100, 0.02),
}


def only(whole: Stream, size: int | list[int] = 1 << 16) -> Window:
    """The single window of a stream."""
    (window,) = found(whole.chunks(size))
    return window


def check(
    window: Window,
    *,
    least_s: float = 0.0,
    latency_us: float | None = None,
    board_us: float | None = None,
) -> None:
    check_window(
        window,
        board="evb",
        pins=PINS,
        inferences=1,
        least_s=least_s,
        latency_us=latency_us,
        board_us=board_us,
    )


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("size", [1 << 16, 10_007])
def test_the_energy_is_the_sum_over_the_window(name: str, size: int) -> None:
    whole = stream(SHAPES[name])
    window = only(whole, size)
    assert (window.start, window.end) == (whole.start, whole.end)
    assert window.energy_j == pytest.approx(whole.joules, rel=1e-9)
    assert window.seconds == len(SHAPES[name]) / RATE_HZ
    check(window)


def test_the_energy_of_a_rectangle_is_known_on_paper() -> None:
    window = only(stream(SHAPES["rectangle"], idle_a=0.001))
    assert window.energy_j == pytest.approx(0.02 * VOLTS * 0.1, rel=1e-6)
    assert window.charge_c == pytest.approx(0.02 * 0.1, rel=1e-6)
    assert window.mean_w == pytest.approx(0.02 * VOLTS, rel=1e-6)
    assert window.idle_w == pytest.approx(0.001 * VOLTS, rel=1e-6)


def test_the_energy_of_a_ramp_is_known_on_paper() -> None:
    window = only(stream(SHAPES["ramp"]))
    assert window.energy_j == pytest.approx(0.02 * VOLTS * 0.1, rel=1e-3)
    assert window.peak_w == pytest.approx(0.04 * VOLTS, rel=1e-6)


@pytest.mark.parametrize("edge", ["start", "end"])
@pytest.mark.parametrize("offset", [-11, -3, -1, 0, 1, 3, 11])
def test_an_edge_may_be_anywhere_in_a_chunk(edge: str, offset: int) -> None:
    whole = stream(SHAPES["rectangle"])
    cut = getattr(whole, edge) + offset
    window = only(whole, [cut])
    assert (window.start, window.end) == (whole.start, whole.end)
    assert window.energy_j == pytest.approx(whole.joules, rel=1e-9)


def test_chunks_of_one_sample_give_the_same() -> None:
    whole = stream(SHAPES["one inference of 50 us"])
    begin = whole.start - 40
    pieces = [begin, *range(begin + 1, whole.end + 40)]
    assert only(whole, pieces).energy_j == pytest.approx(whole.joules, rel=1e-12)


def test_pins_that_change_one_after_another_make_no_window() -> None:
    whole = stream(SHAPES["rectangle"])
    whole.lines[whole.start : whole.start + 4] = IN1  # In0 falls 2 us before In1
    window = only(whole)
    assert window.start == whole.start + 4


@pytest.mark.parametrize("level", [IN0, IN1, BOTH])
def test_a_glitch_does_not_end_the_window(level: int) -> None:
    whole = stream(SHAPES["rectangle"])
    whole.lines[whole.start + 5000 : whole.start + 5006] = level
    assert only(whole).end == whole.end


def test_a_floating_line_makes_no_window() -> None:
    whole = stream(SHAPES["rectangle"])
    whole.lines[:] = RANDOM.integers(0, 4, len(whole.lines))
    assert found(whole.chunks(1 << 16)) == []


def test_several_windows_in_one_stream() -> None:
    parts = [stream(np.full(1000, amperes)) for amperes in (0.01, 0.02, 0.03)]
    for number, part in enumerate(parts):
        part.first = number * len(part.lines)
    chunks = (chunk for part in parts for chunk in part.chunks(5000))
    joules = [window.energy_j for window in found(chunks)]
    assert joules == pytest.approx([part.joules for part in parts])


def drop(where: str) -> Stream:
    whole = stream(SHAPES["rectangle"])
    middle = {"window": (whole.start + whole.end) // 2, "start": whole.start, "end": whole.end}
    begin = middle[where] - 300 if where != "window" else middle[where]
    whole.drop = (begin, begin + 600)
    return whole


@pytest.mark.parametrize("where", ["window", "start", "end"])
def test_a_dropped_block_is_named(where: str) -> None:
    with pytest.raises(WindowFault, match="samples of the window are missing"):
        check(only(drop(where)))


def test_a_block_that_was_dropped_before_the_window_does_not_matter() -> None:
    whole = stream(SHAPES["rectangle"])
    whole.drop = (1000, 2000)
    check(only(whole))


def test_samples_that_are_not_numbers_are_missing() -> None:
    whole = stream(SHAPES["rectangle"])
    whole.current[whole.start + 10 : whole.start + 30] = np.nan
    window = only(whole)
    assert window.missing == 20
    with pytest.raises(WindowFault, match="20 of 200000 samples of the window are missing"):
        check(window)


def test_swapped_lines_are_named() -> None:
    whole = stream(SHAPES["rectangle"])
    whole.lines[:] = (whole.lines & IN0) << 1 | whole.lines >> 1
    with pytest.raises(WiringFault, match=r"In0 and In1 are swapped(.|\n)*GPIO 22.*GPIO 23"):
        check(only(whole))


def clipped() -> Stream:
    whole = stream(SHAPES["rectangle"])
    whole.current[whole.start + 10 : whole.start + 15] = FACTS.max_a
    return whole


def without_supply() -> Stream:
    whole = stream(SHAPES["rectangle"])
    whole.voltage[:] = 0.01
    return whole


@pytest.mark.parametrize(
    ("whole", "expected", "says"),
    [
        (clipped(), {}, "5 of 200000 samples of the window are clipped"),
        (without_supply(), {}, "the supply is off: the meter sees 10.0 mV"),
        (stream(np.full(50, 0.02)), {}, "the window is too short: 25 us, 50 samples"),
        (stream(SHAPES["ramp"]), {"least_s": 1.0}, "the window is too short: 100.0 ms"),
        (
            stream(SHAPES["ramp"]),
            {"latency_us": 120_000.0},
            r"lasted 100.0 ms, but .* are 1 \* 120.0 ms = 120.0 ms \(-16.7 %\)",
        ),
    ],
    ids=["clipped", "no supply", "few samples", "short", "other time"],
)
def test_a_window_that_is_not_to_be_trusted(
    whole: Stream, expected: dict[str, float], says: str
) -> None:
    with pytest.raises(PowerError, match=says):
        check(only(whole), **expected)


@pytest.mark.parametrize("board_us", [0.0, 88_000.0, 112_000.0])
def test_the_ticks_of_the_board_have_to_be_the_time_of_the_samples(board_us: float) -> None:
    whole = only(stream(SHAPES["ramp"]))
    says = r"lasted 100.0 ms by the meter's samples, but .* by the board's own ticks \([-+]1"
    with pytest.raises(WindowFault, match=says):
        check(whole, board_us=board_us)
    check(whole, board_us=91_000.0)


def test_the_energy_has_to_be_mean_power_times_time() -> None:
    from dataclasses import replace

    window = only(stream(SHAPES["rectangle"]))
    wrong = replace(window, energy_j=1.002 * window.energy_j)
    with pytest.raises(WindowFault, match="is not mean power times time"):
        check(wrong)


def test_a_supply_that_is_there_is_no_fault() -> None:
    check_supply(1.8, board="evb")


def test_a_spike_survives_in_the_waveform() -> None:
    amperes = np.full(2 * SECOND, 0.01)
    amperes[1_234_567] = 3.0
    wave = only(stream(amperes)).waveform
    assert len(wave.most) <= MOST_BINS
    assert max(wave.most) == pytest.approx(3.0 * VOLTS)
    start, end = wave.window_s
    assert end - start == pytest.approx(2.0)
    middle = wave.mean[len(wave.mean) // 2]
    assert middle == pytest.approx(0.01 * VOLTS, rel=0.2)
    assert wave.mean[0] == pytest.approx(0.001 * VOLTS, rel=1e-5)
    shown = wave.shown()
    assert len(shown.most) <= SHOWN_BINS
    assert max(shown.most) == pytest.approx(3.0 * VOLTS, rel=1e-3)


def long_stream(seconds: float) -> Iterator[Chunk]:
    """A window of so many seconds that is never there as a whole."""
    short = stream(np.full(1 << 16, 0.02))
    *before, _ = short.chunks([short.start])
    yield from before
    position = before[-1].end
    body = next(stream(np.full(1 << 16, 0.02)).chunks(1 << 20))
    body = body.part(short.start, short.end)
    for _ in range(round(seconds * RATE_HZ / len(body))):
        yield Chunk(position, body.current, body.voltage, body.lines)
        position += len(body)
    last = np.full(1000, IN1, np.uint8)
    flat: Array = np.zeros(1000, np.float32)
    yield Chunk(position, flat, flat, last)


def peak_bytes(seconds: float) -> int:
    finder = WindowFinder(FACTS)
    tracemalloc.start()
    try:
        for chunk in long_stream(seconds):
            finder.feed(chunk)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_the_memory_does_not_grow_with_the_stream() -> None:
    assert peak_bytes(20) <= 1.05 * peak_bytes(2)


@pytest.mark.parametrize(
    ("lines", "changes", "decided"),
    [
        ([0, 0, 0, 0], [], 4),
        ([0, 0, 3, 3, 3], [(2, 3)], 5),
        ([0, 0, 3, 3], [], 2),
        ([3, 3, 3, 0, 0, 3, 3], [(0, 3)], 7),
        ([3, 0, 0, 0], [], 4),
        ([3], [], 0),
    ],
)
def test_a_level_counts_when_it_is_held(
    lines: list[int], changes: list[tuple[int, int]], decided: int
) -> None:
    assert level_changes(np.array(lines, np.uint8), 0, 3) == (changes, decided)
