"""Captures: what is saved replays to the same energies, and what does not fit is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.helpers.power_streams import found

pytest.importorskip("pyjls", reason="needs the extra 'joulescope'")

import pyjls

from pytest_autodeploy.power.errors import CaptureError, WiringFault
from pytest_autodeploy.power.meter import BOTH
from pytest_autodeploy.power.replay import Replay
from pytest_autodeploy.power.replayed import windows_of
from tests.helpers.captures import ABOUT, noisy, saved

PINS = {"in0": 22, "in1": 23, "trigger": 24}


@pytest.mark.parametrize(("size", "first"), [(1 << 16, 0), (4099, 0), (1 << 16, 7_654_321)])
def test_a_replay_gives_the_very_same_energy(tmp_path: Path, size: int, first: int) -> None:
    whole = noisy()
    whole.first = first
    (live,) = found(whole.chunks(1 << 16))
    replay = Replay(saved(tmp_path / "a.jls", whole, size))
    (again,) = windows_of(replay, board="evb", pins=PINS)
    assert again.energy_j == live.energy_j
    assert again.charge_c == live.charge_c
    assert again.idle_w == live.idle_w
    assert again == replace(live, waveform=again.waveform)


def test_a_capture_says_what_it_is_of(tmp_path: Path) -> None:
    replay = Replay(saved(tmp_path / "a.jls", noisy()))
    assert replay.about == ABOUT
    facts = replay.open()
    assert (facts.source, facts.rate_hz, facts.max_a) == ("measured", 2e6, 10.0)
    assert "a.jls" in facts.name


def test_the_signals_are_those_of_joulescopes_own_software(tmp_path: Path) -> None:
    reader = pyjls.Reader(str(saved(tmp_path / "a.jls", noisy())))
    names = {signal.name: signal.units for signal in reader.signals.values()}
    reader.close()
    assert {"current": "A", "voltage": "V", "gpi[0]": "", "gpi[1]": ""}.items() <= names.items()


def test_lost_samples_are_still_missing(tmp_path: Path) -> None:
    whole = noisy()
    whole.drop = (whole.start + 1001, whole.start + 1999)
    (live,) = found(whole.chunks(1 << 16))
    (again,) = windows_of(Replay(saved(tmp_path / "a.jls", whole)), board="evb", pins=PINS)
    assert live.missing == again.missing == 998
    assert (again.start, again.end) == (live.start, live.end)
    assert again.energy_j == pytest.approx(live.energy_j, rel=1e-12)


def foreign(path: Path, *names: str, user_data: bytes = b"") -> Path:
    """A capture that another program could have made."""
    writer: Any = pyjls.Writer(str(path))
    writer.source_def(source_id=1, name="s", vendor="v", model="m", version="1", serial_number="1")
    if user_data:
        writer.user_data(0xAD0, user_data)
    whole = noisy()
    data = {
        "current": whole.current,
        "voltage": whole.voltage,
        "gpi[0]": np.packbits(whole.lines & 1, bitorder="little"),
        "gpi[1]": np.packbits(whole.lines >> 1, bitorder="little"),
    }
    for number, name in enumerate(names, 1):
        real = name in ("current", "voltage")
        writer.signal_def(
            signal_id=number,
            source_id=1,
            signal_type=pyjls.SignalType.FSR,
            data_type=pyjls.DataType.F32 if real else pyjls.DataType.U1,
            sample_rate=2_000_000,
            name=name,
            units="x" if real else "",
        )
        (writer.fsr_f32 if real else writer.fsr)(number, 0, data[name])
    writer.close()
    return path


def test_a_capture_of_another_program_is_replayed(tmp_path: Path) -> None:
    path = foreign(tmp_path / "a.jls", "current", "voltage", "gpi[0]", "gpi[1]")
    replay = Replay(path)
    assert replay.about is None
    (window,) = windows_of(replay, board="evb", pins=PINS)
    assert window.energy_j == found(noisy().chunks(1 << 16))[0].energy_j


def test_a_capture_without_the_lines_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match=r"has no signal gpi\[0\], gpi\[1\]"):
        Replay(foreign(tmp_path / "a.jls", "current", "voltage"))


@pytest.mark.parametrize(
    "data",
    [
        b"{",
        b"[]",
        b'{"format": 1}',
        b'{"format": 2}',
        ABOUT.as_json().replace(b'"inferences": 4', b'"inferences": "4"'),
        ABOUT.as_json().replace(b'"inferences": 4', b'"inferences": 0'),
        ABOUT.as_json().replace(b'"inferences": 4', b'"inferences": true'),
        replace(ABOUT, latency_us=float("nan")).as_json(),
        replace(ABOUT, max_a=1e300).as_json(),
        replace(ABOUT, least_s=-1.0).as_json(),
        replace(ABOUT, source="exact").as_json(),
        replace(ABOUT, mode="XP").as_json(),
        replace(ABOUT, board="a\x1b[2J").as_json(),
        replace(ABOUT, model="m" * 10_000).as_json(),
        b"[" * 50_000,
    ],
)
def test_data_that_is_not_ours_is_refused(tmp_path: Path, data: bytes) -> None:
    signals = ("current", "voltage", "gpi[0]", "gpi[1]")
    with pytest.raises(CaptureError, match=r"own data cannot be read|newer pytest-autodeploy"):
        Replay(foreign(tmp_path / "a.jls", *signals, user_data=data))


def test_samples_that_were_damaged_are_refused(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.jls", noisy())
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 4_000] = bytes(4_000)
    path.write_bytes(content)
    with pytest.raises(CaptureError, match=r"is damaged at sample \d+ of"):
        windows_of(Replay(path), board="evb", pins=PINS)
    assert path.read_bytes() == bytes(content)


def test_a_file_that_is_no_capture_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.jls").write_bytes(b"not a capture" * 100)
    with pytest.raises(CaptureError, match="cannot read the capture"):
        Replay(tmp_path / "a.jls")
    with pytest.raises(CaptureError, match="no such capture"):
        Replay(tmp_path / "b.jls")


@pytest.mark.parametrize(
    ("dead", "says"),
    [
        (BOTH, r"In0 \(GPIO 22\) and In1 \(GPIO 23\) never moved"),
        (2, r"In1 \(GPIO 23\) never moved"),
    ],
)
def test_lines_that_never_moved_are_named(tmp_path: Path, dead: int, says: str) -> None:
    whole = noisy()
    whole.lines &= BOTH & ~dead
    replay = Replay(saved(tmp_path / "a.jls", whole))
    with pytest.raises(WiringFault, match=says):
        windows_of(replay, board="evb", pins=PINS)
