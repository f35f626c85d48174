"""A server of GDB's remote protocol over the core of a machine: ``target remote :PORT``.

Registers, memories and peripherals, breakpoints, steps and Ctrl-C. While a debugger holds the core
its time stands still, and whoever calls the board waits.
"""

from __future__ import annotations

import contextlib
import select
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_autodeploy.virtual.machine import Machine

REGISTERS = 17
"""r0 to r15, and the status word."""

_STOPPED, _INTERRUPTED = "S05", "S02"
_CTRL_C = 0x03
_WAIT_S = 0.05
_PACKET_BYTES = 4096
_NAMES = [*(f"r{number}" for number in range(13)), "sp", "lr", "pc", "xpsr"]
_DESCRIPTION = (
    '<?xml version="1.0"?><!DOCTYPE target SYSTEM "gdb-target.dtd"><target><architecture>arm'
    '</architecture><feature name="org.gnu.gdb.arm.m-profile">'
    + "".join(f'<reg name="{name}" bitsize="32"/>' for name in _NAMES)
    + "</feature></target>"
)


class GdbServer:
    """Serves one debugger at a time; the core is held from when it connects.

    ``look`` is called between two slices, and returns when the core may run; ``over`` ends a hold.
    Raises OSError when the port is taken.
    """

    def __init__(self, machine: Machine, port: int, over: Callable[[], bool]) -> None:
        self._machine = machine
        self._over = over
        self._listener = socket.create_server(("127.0.0.1", port))
        self._client: socket.socket | None = None
        self._data = b""
        self._holds = False
        machine.core.breakpoints.hit = self._hit
        self.port = self._listener.getsockname()[1]

    def look(self) -> None:
        """Serve what the debugger asks for."""
        self._poll(0)
        while self._holds and not self._over():
            self._machine.link.poll()
            self._poll(_WAIT_S)

    def close(self) -> None:
        """Hang up."""
        self._drop()
        self._listener.close()

    def _hit(self) -> None:
        self._holds = True
        self._send(_STOPPED)

    def _poll(self, timeout_s: float) -> None:
        sources = [self._listener, *([self._client] if self._client else [])]
        ready, _, _ = select.select(sources, [], [], timeout_s)
        if self._listener in ready:
            self._drop()
            self._client, _ = self._listener.accept()
            self._data, self._holds = b"", True
        elif ready and self._client is not None:
            self._receive(self._client)

    def _receive(self, client: socket.socket) -> None:
        data = b""
        with contextlib.suppress(OSError):
            data = client.recv(_PACKET_BYTES)
        if not data:
            self._drop()
            return
        self._data += data
        while self._data:
            if self._data[0] == _CTRL_C:
                self._data, self._holds = self._data[1:], True
                self._send(_INTERRUPTED)
            elif self._data[:1] != b"$":
                self._data = self._data[1:]  # acknowledgements
            elif not self._take_packet():
                return

    def _take_packet(self) -> bool:
        end = self._data.find(b"#")
        if end < 0 or len(self._data) < end + 3:
            return False
        packet, self._data = self._data[1:end].decode("latin-1"), self._data[end + 3 :]
        if self._client is not None:
            self._client.sendall(b"+")
        try:
            answer = self._answer(packet)
        except (ValueError, self._machine.core.error):
            answer = "E01"
        if answer is not None:
            self._send(answer)
        return True

    def _send(self, text: str) -> None:
        if self._client is not None:
            checksum = sum(text.encode("latin-1")) & 0xFF
            with contextlib.suppress(OSError):
                self._client.sendall(f"${text}#{checksum:02x}".encode("latin-1"))

    def _drop(self) -> None:
        """Without a debugger the core runs on, and has no breakpoints."""
        if self._client is not None:
            self._client.close()
        self._client, self._holds = None, False
        self._machine.core.breakpoints.clear()

    def _answer(self, packet: str) -> str | None:
        """What to say to a packet; nothing to one that is answered when the core stops."""
        match packet[:1]:
            case "?":
                return _STOPPED
            case "g":
                return "".join(self._register(number) for number in range(REGISTERS))
            case "p":
                return self._register(int(packet[1:], 16))
            case "P":
                number, _, value = packet[1:].partition("=")
                return self._set_register(int(number, 16), bytes.fromhex(value))
            case "m":
                return self._memory(*_numbers(packet[1:])).hex()
            case "M":
                where, _, value = packet[1:].partition(":")
                return self._set_memory(_numbers(where)[0], bytes.fromhex(value))
            case "Z" | "z" if packet[1:2] in "01":
                self._machine.core.breakpoints.set(_numbers(packet[3:])[0], packet[0] == "Z")
                return "OK"
            case "c" | "s":
                self._holds = False
                self._machine.core.breakpoints.resume(step=packet[0] == "s")
                return None
            case "D" | "k":
                self._send("OK")
                self._drop()
                return None
            case "H":
                return "OK"
            case _:
                return _query(packet)

    def _register(self, number: int) -> str:
        core = self._machine.core
        value = core.status if number == REGISTERS - 1 else core.register(number)
        return value.to_bytes(4, "little").hex()

    def _set_register(self, number: int, data: bytes) -> str:
        if number >= REGISTERS - 1:
            return "E01"
        value = int.from_bytes(data, "little") | (number == REGISTERS - 2)  # a core of Thumb
        self._machine.core.set_register(number, value)
        return "OK"

    def _memory(self, address: int, size: int) -> bytes:
        if not self._machine.bus.is_peripheral(address):
            return bytes(self._machine.core.uc.mem_read(address, size))
        first = address & ~3
        words = range(first, address + size, 4)
        data = b"".join(self._machine.bus.load(word).to_bytes(4, "little") for word in words)
        return data[address - first :][:size]

    def _set_memory(self, address: int, data: bytes) -> str:
        if not self._machine.bus.is_peripheral(address):
            self._machine.core.uc.mem_write(address, data)
        elif len(data) == 4 and address % 4 == 0:
            self._machine.bus.store(address, int.from_bytes(data, "little"))
        else:
            return "E01"  # registers are words
        return "OK"


def _numbers(text: str) -> tuple[int, int]:
    """Two numbers in hex with a comma between them."""
    first, _, second = text.partition(",")
    return int(first, 16), int(second.partition(";")[0] or "0", 16)


def _query(packet: str) -> str:
    if packet.startswith("qSupported"):
        return f"PacketSize={_PACKET_BYTES:x};qXfer:features:read+"
    if packet.startswith("qXfer:features:read:target.xml:"):
        offset, size = _numbers(packet.rpartition(":")[2])
        part = _DESCRIPTION[offset : offset + size]
        return ("m" if offset + size < len(_DESCRIPTION) else "l") + part
    return {"qAttached": "1", "qfThreadInfo": "m1", "qsThreadInfo": "l", "qC": "QC1"}.get(
        packet, ""
    )
