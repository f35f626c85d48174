"""The serial port of a board: found by USB ids and serial numbers, never by its name."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
from serial import SerialException
from serial.tools import list_ports
from serial.tools.list_ports_common import ListPortInfo

from pytest_autodeploy.base.errors import BoardUnavailable
from pytest_autodeploy.board.usb_ports import find_port, port_identity, probe_identity, wanted
from pytest_autodeploy.catalog.boards import board_spec
from pytest_autodeploy.rpc.link import Link
from tests.helpers.hardware_bench import PROBE, usb_port

CDC = usb_port("/dev/ttyACM3", 0xCAFE, "1234", "TinyUSB CDC")
OTHER_CDC = usb_port("/dev/ttyACM12", 0xCAFE, "1234", "TinyUSB CDC")
VCOM = usb_port("/dev/ttyACM0", 0x1366, "001160002276", "J-Link")
OTHER_VCOM = usb_port("/dev/ttyACM10", 0x1366, "000440130584", "J-Link")
FTDI = usb_port("/dev/ttyUSB0", 0x0403, None, "FT232R")
PLAIN = ListPortInfo("/dev/ttyS0")


@pytest.fixture
def ports(monkeypatch: pytest.MonkeyPatch) -> list[ListPortInfo]:
    ports: list[ListPortInfo] = [PLAIN, FTDI]
    monkeypatch.setattr(list_ports, "comports", lambda: ports)
    return ports


def find(name: str, probe: str = PROBE) -> str | None:
    return find_port(board_spec(name), name, probe)


def test_a_usb_board_is_found_by_the_ids_of_its_firmware(ports: list[ListPortInfo]) -> None:
    ports += [VCOM, CDC]
    assert find("apollo4p_evb") == "/dev/ttyACM3"


def test_a_uart_board_is_found_by_the_number_of_its_probe(ports: list[ListPortInfo]) -> None:
    ports += [OTHER_VCOM, CDC, VCOM]
    assert find("apollo3p_evb") == "/dev/ttyACM0"
    assert find("apollo3p_evb", "440130584") == "/dev/ttyACM10"


def test_a_port_that_is_not_there_is_none_and_the_others_are_listed(
    ports: list[ListPortInfo],
) -> None:
    assert find("apollo4p_evb") is None
    assert wanted(board_spec("apollo4p_evb"), PROBE) == (
        "looked for a USB serial port of CAFE:????; "
        "ports that exist: /dev/ttyS0 (n/a), /dev/ttyUSB0 (0403:4011, FT232R)"
    )
    assert "a serial port of the J-Link 1160002276" in wanted(board_spec("apollo3p_evb"), PROBE)


def test_several_candidates_are_listed(ports: list[ListPortInfo]) -> None:
    ports += [CDC, OTHER_CDC]
    with pytest.raises(BoardUnavailable) as raised:
        find("apollo4p_evb")
    assert str(raised.value) == (
        "apollo4p_evb: several serial ports may be that of the apollo4p_evb: "
        "/dev/ttyACM3 (CAFE:4011, serial number 1234, TinyUSB CDC), "
        "/dev/ttyACM12 (CAFE:4011, serial number 1234, TinyUSB CDC)\n"
        "  choose one by --evb-port=DEVICE"
    )


def test_a_port_without_permission_names_the_group(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    device = tmp_path / "ttyACM0"
    device.touch()

    def refuse(*_args: object, **_options: object) -> None:
        raise SerialException(errno.EACCES, f"could not open port {device}")

    monkeypatch.setattr("pytest_autodeploy.rpc.ports.serial_for_url", refuse)
    with pytest.raises(BoardUnavailable, match=r"no permission for port .*\n.*usermod -aG "):
        Link(str(device), board="apollo4p_evb")


def test_the_identity_of_a_board_does_not_depend_on_the_name_of_its_port(
    ports: list[ListPortInfo], tmp_path: Path
) -> None:
    ports += [CDC, OTHER_CDC, VCOM]
    assert port_identity("/dev/ttyACM0") == probe_identity(PROBE) == probe_identity("001160002276")
    assert port_identity("/dev/ttyACM3") == "USB device CAFE:4011 1234 at 1-12"
    assert port_identity("/dev/ttyACM3") != port_identity("/dev/ttyACM12")
    link = tmp_path / "evb"
    link.symlink_to("/dev/ttyACM3")
    assert port_identity(str(link)) == port_identity("/dev/ttyACM3")
    assert port_identity("socket://127.0.0.1:5000") == "socket://127.0.0.1:5000"
