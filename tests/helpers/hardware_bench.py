"""A bench for tests of hardware: a board behind a pty, and the probe of the fake J-Link."""

from __future__ import annotations

import dataclasses
import json
import os
import socket
import socketserver
import sys
import tempfile
import threading
import tty
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from serial.tools import list_ports
from serial.tools.list_ports_common import ListPortInfo

from pytest_autodeploy.board.hardware import HardwareBoard
from pytest_autodeploy.board.jlink import JLink
from pytest_autodeploy.board.line import Timeouts
from pytest_autodeploy.catalog.boards import board_spec
from pytest_autodeploy.image.image import Image
from pytest_autodeploy.rpc.messages import BoardKind, Identity, InvokeTiming
from pytest_autodeploy.rpc.service import Log
from tests.helpers.rpc_board import IDENTITY, Descriptor, EchoValidator, serve

PROBE = "1160002276"
OTHER_MODEL = "ab" * 32
TIMEOUTS = Timeouts(lock_s=0.2, answer_s=10.0, restart_s=30.0, vanish_s=0.3)
SHORT_TIMEOUTS = Timeouts(lock_s=0.2, answer_s=0.2, restart_s=0.2, vanish_s=0.1)
"""For boards that are not going to answer."""

BOARDS: list[HardwareBoard] = []
"""Where an inner run of pytest finds its board."""


@dataclass
class Firmware:
    """What the board does once it boots; a binary file of the bench holds just this as JSON."""

    folder: Path
    build_id: str
    model_sha256: str
    kind: str = "HARDWARE"
    board: str = "apollo4p_evb"
    behaviour: str = "good"  # or: silent, silent until reset, no port, dies, hangs

    def file(self, suffix: str) -> Path:
        path = self.folder / f"{self.build_id}{suffix}"
        content = {**dataclasses.asdict(self), "folder": str(self.folder)}
        path.write_text(json.dumps(content))
        return path


class Died(BaseException):  # the service answers every Exception
    """The firmware crashed."""


@dataclass
class Validator(EchoValidator):
    """The firmware that is booted; it may not survive an invoke."""

    behaviour: str = "good"

    def invoke(self, count: int) -> InvokeTiming:
        if self.behaviour in ("dies", "hangs"):
            raise Died
        return super().invoke(count)


@dataclass
class Bench:
    """The board with its port as a link in ``folder``, and all that its probe was told.

    ``told`` is what happens on a message of the probe.
    """

    folder: Path
    flashed: list[str] = field(default_factory=list)
    resets: int = 0
    extra_ports: list[ListPortInfo] = field(default_factory=list)
    mode: str = "good"
    probes: list[tuple[str, str]] = field(
        default_factory=lambda: [(PROBE, "J-Link-OB-Apollo4-CortexM")]
    )
    vid: int = 0xCAFE
    serial: str = "1234"

    def __post_init__(self) -> None:
        self.port = str(self.folder / "ttyEVB")
        self.firmware: Firmware | None = None
        self.built: list[Image] = []
        self.next: dict[str, Any] = {}
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._descriptors: list[int] = []
        self.told: Callable[[dict[str, Any]], object] = self._told
        self.server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), _handler(self))
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()
        self.be(self.mode)

    def be(self, mode: str) -> None:
        """Choose what the fake J-Link does from now on."""
        state = {"mode": mode, "probes": self.probes, "bench": self.server.server_address[1]}
        (self.folder / "jlink.json").write_text(json.dumps(state))

    @property
    def calls(self) -> list[dict[str, Any]]:
        """Arguments and script of each call of J-Link."""
        path = self.folder / "calls.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def firmware_for(self, image: Image) -> Firmware:
        """Builds: ``next`` holds how the firmware shall differ from good one."""
        self.built.append(image)
        facts = {"build_id": f"build{len(self.built)}", "model_sha256": image.model.sha256}
        return Firmware(self.folder, **(facts | self.next))

    def board(self, **options: Any) -> HardwareBoard:
        """A board as the plugin makes it, but for its timeouts."""
        name = options.pop("name", "apollo4p_evb")
        spec = board_spec(name)
        chosen: dict[str, Any] = {
            "probe": JLink(name, spec.jlink_device, flash_timeout_s=30, timeout_s=30),
            "firmware_for": self.firmware_for,
            "timeout_s": 10.0,
            "timeouts": TIMEOUTS,
        }
        return HardwareBoard(name, spec, **(chosen | options))

    def boot(self, firmware: Firmware, *, after_reset: bool = False) -> None:
        """Power on with this firmware."""
        self.off()
        self.firmware = firmware
        if firmware.behaviour == "no port":
            return
        master, slave = os.openpty()
        tty.setraw(slave)
        self._descriptors = [master, slave]
        Path(self.port).symlink_to(os.ttyname(slave))
        silent = ("silent",) if after_reset else ("silent", "silent until reset")
        if firmware.behaviour not in silent:
            self._stop = threading.Event()
            arguments = (master, firmware, self._stop)
            self._thread = threading.Thread(target=self._serve, args=arguments, daemon=True)
            self._thread.start()

    def boot_old(self) -> None:
        """Power on with firmware of ours from before."""
        self.boot(Firmware(self.folder, "old", OTHER_MODEL))

    def off(self) -> None:
        """Power off: the port vanishes."""
        self._stop.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        self._unplug()

    def _unplug(self) -> None:
        with suppress(FileNotFoundError):
            Path(self.port).unlink()
        while self._descriptors:
            os.close(self._descriptors.pop())

    def _serve(self, master: int, firmware: Firmware, stop: threading.Event) -> None:
        validator = Validator(_identity(firmware), behaviour=firmware.behaviour)
        try:
            serve(Descriptor(master), validator, Log(), stop)
        except Died:
            if firmware.behaviour == "dies":
                self._unplug()
        except (OSError, ValueError):
            pass

    def _told(self, message: dict[str, Any]) -> None:
        if message["op"] == "flash":
            content = json.loads(Path(message["image"]).read_text())
            self.flashed.append(content["build_id"])
            self.boot(Firmware(**(content | {"folder": Path(content["folder"])})))
        elif self.firmware is not None:
            self.resets += 1
            self.boot(self.firmware, after_reset=True)

    def comports(self) -> list[ListPortInfo]:
        """What pySerial would list: the board's port while it is there, and the extra ones."""
        mine = [usb_port(self.port, self.vid, self.serial)] if Path(self.port).exists() else []
        return [*mine, *self.extra_ports]

    def close(self) -> None:
        """Take everything down."""
        self.server.shutdown()
        self.server.server_close()
        self.off()


def usb_port(device: str, vid: int, serial: str | None, description: str = "CDC") -> ListPortInfo:
    """A serial port of a USB device."""
    port = ListPortInfo(device)
    port.vid, port.pid, port.serial_number = vid, 0x4011, serial
    port.description, port.location = description, f"1-{len(device)}"
    return port


def _identity(firmware: Firmware) -> Identity:
    return dataclasses.replace(
        IDENTITY,
        kind=BoardKind[firmware.kind],
        board=firmware.board,
        build_id=firmware.build_id,
        model_sha256=bytes.fromhex(firmware.model_sha256),
    )


def _handler(bench: Bench) -> type[socketserver.StreamRequestHandler]:
    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            bench.told(json.loads(self.rfile.readline()))
            with suppress(OSError):
                self.wfile.write(b"done\n")

    return Handler


def install(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Bench:
    """A bench whose J-Link is on PATH, whose ports are the only ones, with a temporary folder."""
    programs, temporary = folder / "programs", folder / "temporary"
    programs.mkdir()
    temporary.mkdir()
    source = Path(__file__).with_name("fake_jlink.py").read_text()
    (programs / "JLinkExe").write_text(f"#!{sys.executable} -ES\n{source}")
    (programs / "JLinkExe").chmod(0o755)
    bench = Bench(folder)
    monkeypatch.setenv("PATH", str(programs), prepend=os.pathsep)
    monkeypatch.setenv("FAKE_JLINK", str(folder))
    monkeypatch.setattr(list_ports, "comports", bench.comports)
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    return bench


def free_port() -> int:
    """A TCP port that nothing listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])
