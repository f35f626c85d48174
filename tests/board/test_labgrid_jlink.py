"""The J-Link at an exporter, which J-Link Commander drives there: ssh and scp stay on this PC."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_autodeploy.board.attached import AttachedBoard
from pytest_autodeploy.board.base import Placed
from pytest_autodeploy.board.hardware import HardwareBoard
from pytest_autodeploy.board.labgrid.exporter_jlink import ExporterJLink, find_jlink
from pytest_autodeploy.board.labgrid.lease import Held
from pytest_autodeploy.board.labgrid.listing import Place, Resource
from pytest_autodeploy.board.labgrid.reached import reach
from pytest_autodeploy.board.order import Order
from pytest_autodeploy.board.probe import FlashFailed, ProbeUnavailable
from pytest_autodeploy.catalog.boards import board_spec
from pytest_autodeploy.settings.options import OPTIONS
from pytest_autodeploy.settings.settings import resolve
from tests.helpers.fake_tools import fake_program
from tests.helpers.hardware_bench import OTHER_MODEL, PROBE, Bench, Firmware, install

SSH = """
while [ "$1" != "--" ]; do shift; done
[ "$2" = lab-host ] || exit 255
[ -z "$BROKEN_SSH" ] || { echo "$BROKEN_SSH" >&2; exit 255; }
echo "$3" >> "$REMOTE_LOG"
exec sh -c "$(echo "$3" | sed "s,/sys/bus/usb/devices,$REMOTE_USB,")"
"""
SCP = """
while [ "$1" != "--" ]; do shift; done
shift
for last; do :; done
folder="${last#lab-host:}"
for file; do [ "$file" = "$last" ] || cp "$file" "$folder"; done
"""


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    """A bench whose J-Link is at a host behind ssh."""
    usb = tmp_path / "usb" / "1-1.2"
    usb.mkdir(parents=True)
    (usb / "serial").write_text(f"00{PROBE}\n")
    fake_program(tmp_path / "bin", "ssh", SSH)
    fake_program(tmp_path / "bin", "scp", SCP)
    bench = install(monkeypatch, tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    monkeypatch.setenv("REMOTE_LOG", str(tmp_path / "remote.log"))
    monkeypatch.setenv("REMOTE_USB", str(usb.parent))
    yield bench
    bench.close()


def debugger(**params: object) -> Resource:
    """What an exporter offers of a J-Link."""
    known = {"host": "lab-host", "busnum": 1, "devnum": 5, "path": "1-1.2", "vendor_id": 0x1366}
    path = "rig/a/NetworkUSBDebugger/probe"
    return Resource("probe", path, "NetworkUSBDebugger", True, {**known, **params})


def jlink(**params: object) -> ExporterJLink:
    return ExporterJLink("labgrid:a", "AMAP42KK-KBR", debugger(**params))


def firmware(bench: Bench) -> Path:
    """An image of the bench."""
    return Firmware(bench.folder, "b1", OTHER_MODEL).file(".bin")


def remote_folders(bench: Bench) -> list[Path]:
    """Folders that were made at the host."""
    lines = (bench.folder / "remote.log").read_text().splitlines()
    made = [Path(line.split()[-1]) for line in lines if line.startswith("mkdir")]
    assert made
    return made


def test_an_image_is_flashed_there_and_nothing_stays_there(bench: Bench) -> None:
    image = firmware(bench)
    jlink().flash(image, 0x18000)
    assert bench.flashed == ["b1"]
    (call,) = bench.calls
    assert call["arguments"][2:4] == ["-SelectEmuBySN", PROBE]
    assert not any(folder.exists() for folder in remote_folders(bench))


def test_a_reset_reaches_the_board(bench: Bench) -> None:
    bench.boot_old()
    jlink().reset()
    assert bench.resets == 1


def test_what_jlink_says_there_is_told(bench: Bench) -> None:
    bench.be("verify fails")
    with pytest.raises(FlashFailed, match="Verification failed"):
        jlink().flash(firmware(bench), 0x18000)
    assert not any(folder.exists() for folder in remote_folders(bench))


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({"path": None}, r"it is not on USB \('None'\): it may be unplugged"),
        ({"path": "1-1; rm x"}, "it is not on USB"),
        ({"path": "1-9"}, "it tells no serial number: .*No such file"),
        ({"host": "elsewhere"}, "at elsewhere: it tells no serial number"),
    ],
)
@pytest.mark.usefixtures("bench")
def test_a_probe_that_is_not_there_is_told(params: dict[str, object], says: str) -> None:
    with pytest.raises(ProbeUnavailable, match=says):
        jlink(**params).serial_number()


def test_a_host_without_jlink_commander_is_told(bench: Bench) -> None:
    (bench.folder / "programs" / "JLinkExe").unlink()
    with pytest.raises(ProbeUnavailable, match="JLinkExe is not on PATH there"):
        jlink().flash(firmware(bench), 0x18000)


def test_a_way_that_breaks_is_told(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    probe = jlink()
    probe.serial_number()
    monkeypatch.setenv("BROKEN_SSH", "Connection reset by peer")
    with pytest.raises(ProbeUnavailable, match=r"cannot make .*Connection reset by peer"):
        probe.flash(firmware(bench), 0x18000)


def test_only_one_jlink_is_used_and_no_other_probe() -> None:
    assert find_jlink([debugger()]) == debugger()
    assert find_jlink([debugger(vendor_id=0x0403)]) is None
    assert find_jlink([debugger(), debugger(path="1-1.3")]) is None


@pytest.mark.parametrize("probed", [True, False])
def test_a_place_with_a_jlink_is_flashed_and_another_attached_to(probed: bool) -> None:
    settings = resolve(OPTIONS, lambda _name: None, lambda _name: None, Path())
    order = Order("labgrid:a", board_spec("apollo4p_evb"), settings)
    held = Held(Place("a"), [debugger()] if probed else [])
    board = reach(order, held, "socket://127.0.0.1:1")
    assert isinstance(board, HardwareBoard if probed else AttachedBoard)
    assert isinstance(board, Placed) is probed
