"""The doctor and devices: permissions, USB nodes of Linux, and meters that are found or held."""

from __future__ import annotations

import getpass
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from serial.tools import list_ports

from pytest_autodeploy.doctor import access, boards, meter, usb
from pytest_autodeploy.doctor.access import denied
from pytest_autodeploy.doctor.check import Check
from pytest_autodeploy.doctor.usb import UsbDevice, usb_devices
from pytest_autodeploy.image.firmware import BuildOptions
from tests.helpers.fake_joulescope import FakeDriver
from tests.helpers.hardware_bench import usb_port

pytestmark = pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")

pytest.importorskip("pwd")  # now: a stranger may not be able to read it
pytest.importorskip("grp")

NOBODY = 65534
SEGGER = 0x1366


@contextmanager
def as_a_stranger() -> Iterator[None]:
    """Within it root has no more rights than anybody; others have none too many anyway."""
    if not hasattr(os, "getresuid") or os.getuid() != 0:
        yield
        return
    os.setresuid(NOBODY, NOBODY, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)


@pytest.fixture
def device() -> Iterator[Path]:
    """A device that nobody may use, in a folder that everybody may list."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        path = Path(folder) / "ttyACM0"
        path.touch()
        path.chmod(0)
        yield path


@pytest.fixture
def closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)


def test_an_open_device_is_not_denied(tmp_path: Path) -> None:
    (tmp_path / "device").touch()

    assert denied(tmp_path / "device", SEGGER) is None
    assert denied(tmp_path / "none", SEGGER) is None


def test_a_closed_device_is_denied_by_the_system_itself(device: Path) -> None:
    with as_a_stranger():
        refused = denied(device, SEGGER)

    assert refused is not None
    assert refused[0].startswith("permission denied: it belongs to ")


@pytest.mark.usefixtures("closed")
@pytest.mark.skipif(sys.platform != "linux", reason="udev")
def test_a_device_of_no_group_needs_a_rule_of_udev(device: Path) -> None:
    refused = denied(device, SEGGER)

    assert refused is not None
    assert 'ATTRS{idVendor}=="1366"' in refused[1]
    assert "/etc/udev/rules.d/70-autodeploy-1366.rules" in refused[1]
    assert "udevadm control --reload" in refused[1]


@pytest.mark.usefixtures("closed")
def test_a_device_of_a_group_needs_the_user_in_it(
    device: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    device.chmod(0o660)
    monkeypatch.setattr(access, "_group", lambda _: "dialout")
    monkeypatch.setattr(getpass, "getuser", lambda: "ada")

    refused = denied(device, SEGGER)

    assert refused is not None
    assert "you are not in the group dialout" in refused[0]
    assert "usermod -aG dialout ada" in refused[1]
    assert "log out and in again" in refused[1]


@pytest.mark.usefixtures("closed")
def test_a_member_of_the_group_only_needs_a_new_session(
    device: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    device.chmod(0o660)
    monkeypatch.setattr(access, "_group", lambda _: "dialout")
    monkeypatch.setattr(access, "_is_member", lambda _gid, _group: True)

    refused = denied(device, SEGGER)

    assert refused is not None
    assert refused[1] == "log out and in again"


@pytest.mark.usefixtures("closed")
def test_a_closed_serial_port_of_a_board_is_trouble(
    device: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = usb_port(str(device), 0xCAFE, "1234", "TinyUSB CDC")
    monkeypatch.setattr(list_ports, "comports", lambda: [port])

    (check,) = boards.serial_ports(BuildOptions())

    assert check.state == "trouble"
    assert "may be apollo4p_evb or " in check.found
    assert "permission denied" in check.found


def add_device(folder: Path, name: str, **files: str) -> None:
    (folder / name).mkdir(parents=True)
    for file, text in files.items():
        (folder / name / file).write_text(f"{text}\n")


@pytest.fixture
def linux_usb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A J-Link and a hub as Linux lists them; the folder of their nodes."""
    devices = tmp_path / "devices"
    ids = {"busnum": "1", "devnum": "7"}
    add_device(devices, "1-1", idVendor="1366", product="J-Link", serial="001160002276", **ids)
    add_device(devices, "1-1:1.0", bInterfaceClass="ff")
    add_device(devices, "1-2", idVendor="1d6b", **ids)
    add_device(devices, "1-3", idVendor="rubbish", **ids)
    monkeypatch.setattr(usb, "DEVICES", devices)
    monkeypatch.setattr(usb, "NODES", tmp_path / "nodes")
    (tmp_path / "nodes" / "001").mkdir(parents=True)
    (tmp_path / "nodes" / "001" / "007").touch()
    return tmp_path / "nodes"


def test_the_usb_devices_of_a_vendor_are_found_with_their_nodes(linux_usb: Path) -> None:
    found = list(usb_devices(SEGGER))

    assert found == [UsbDevice(SEGGER, "J-Link 001160002276", linux_usb / "001" / "007")]
    assert list(usb_devices(0xBEEF)) == []


@pytest.mark.usefixtures("linux_usb", "closed")
def test_a_closed_probe_is_trouble_even_though_no_tool_lists_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(boards, "connected_probes", list)

    (check,) = boards.probes(BuildOptions())

    assert (check.name, check.state) == ("probe", "trouble")
    assert check.found.startswith("J-Link 001160002276 (")


def test_a_joulescope_that_is_free_is_found_and_keeps_its_settings() -> None:
    driver = FakeDriver("u/js220/000415", "u/js110/002557", "u/unknown/1")

    assert meter.joulescopes(driver) == [
        {"name": "JS220-000415", "error": None},
        {"name": "JS110-002557", "error": None},
    ]
    assert driver.published == []


def test_a_joulescope_that_another_program_holds_is_told() -> None:
    driver = FakeDriver("u/js220/000415")
    driver.held = True

    (found,) = meter.joulescopes(driver)

    assert "BUSY" in str(found["error"])


def checks(monkeypatch: pytest.MonkeyPatch, script: str) -> list[Check]:
    """What the doctor makes of a driver's process."""
    monkeypatch.setattr(meter, "driver_installed", lambda: True)
    monkeypatch.setattr(meter, "COMMAND", (sys.executable, "-c", script))
    return list(meter.meter(BuildOptions()))


@pytest.mark.parametrize(
    ("found", "state", "words"),
    [
        ([], "missing", "no Joulescope is connected"),
        ([{"name": "JS220-1", "error": None}], "ok", "JS220-1, free"),
        ([{"name": "JS220-1", "error": "BUSY"}], "trouble", "JS220-1 is held: BUSY"),
    ],
)
def test_meters_are_missing_free_or_held(
    monkeypatch: pytest.MonkeyPatch, found: list[object], state: str, words: str
) -> None:
    (check,) = checks(monkeypatch, f"print('driver says hello'); print({json.dumps(found)!r})")

    assert (check.state, check.found) == (state, words)


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("print('[nonsense')", "exited with code 0"),
        ("print('{}'.join('ab'))", "exited with code 0"),
        ("import os; os.kill(os.getpid(), 11)", "died of SIGSEGV"),
        ("raise ImportError", "exited with code 1"),
    ],
)
def test_a_driver_that_breaks_is_trouble(
    monkeypatch: pytest.MonkeyPatch, script: str, words: str
) -> None:
    (check,) = checks(monkeypatch, script)

    assert (check.state, words in check.found) == ("trouble", True)


def test_a_driver_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meter, "TIMEOUT_S", 0.2)

    (check,) = checks(monkeypatch, "import time; time.sleep(60)")

    assert check.found == "the Joulescope driver did not answer in 0.2 s"


def test_the_real_driver_answers() -> None:
    pytest.importorskip("pyjoulescope_driver")

    assert all(
        check.name == "meter" and check.state != "trouble" for check in meter.meter(BuildOptions())
    )
