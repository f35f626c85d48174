"""A debugger at a virtual core: GDB's remote protocol, spoken by hand."""

from __future__ import annotations

import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_autodeploy.virtual.gdb import GdbServer
from tests.helpers.emulation import needs_compiler
from tests.helpers.virtual_machine import RAM, Bench, assemble, machine

pytest.importorskip("unicorn")
pytestmark = needs_compiler

PROGRAM = """
 movs r0, #0
 ldr r1, =0x20000000
again: adds r0, #1
 str r0, [r1]
 b again
"""
AGAIN, STORE = 0x206, 0x208
DEADLINE_S = 20


class Debugger:
    """What GDB sends and gets."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=DEADLINE_S)
        self._data = b""

    def ask(self, packet: str) -> str:
        self.send(packet)
        return self.answer()

    def send(self, packet: str) -> None:
        self._socket.sendall(f"${packet}#{sum(packet.encode()) & 0xFF:02x}".encode())

    def interrupt(self) -> str:
        self._socket.sendall(b"\x03")
        return self.answer()

    def answer(self) -> str:
        while b"#" not in self._data or len(self._data) < self._data.index(b"#") + 3:
            data = self._socket.recv(4096)
            assert data, "hung up"
            self._data += data
        packet, _, rest = self._data.lstrip(b"+").partition(b"#")
        self._data = rest[2:]
        assert int(rest[:2], 16) == sum(packet[1:]) & 0xFF
        return packet[1:].decode()

    def register(self, number: int) -> int:
        return int.from_bytes(bytes.fromhex(self.ask(f"p{number:x}")), "little")

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def board() -> Bench:
    return machine(assemble(PROGRAM))


@pytest.fixture
def port(board: Bench) -> Iterator[int]:
    """Of the server of a board that runs in a thread."""
    over = threading.Event()
    server = GdbServer(board, 0, over.is_set)

    def until() -> bool:
        server.look()
        return over.is_set()

    thread = threading.Thread(target=board.run, args=(until,), daemon=True)
    thread.start()
    yield server.port
    over.set()
    thread.join()
    server.close()


@pytest.fixture
def debugger(port: int) -> Iterator[Debugger]:
    debugger = Debugger(port)
    assert debugger.ask("?") == "S05"
    yield debugger
    debugger.close()


def test_a_breakpoint_holds_the_core_each_time_it_is_reached(debugger: Debugger) -> None:
    assert debugger.ask(f"Z0,{STORE:x},2") == "OK"
    assert debugger.ask("c") == "S05"
    assert debugger.register(15) == STORE
    counted = debugger.register(0)
    assert debugger.ask("c") == "S05"
    assert debugger.register(0) == counted + 1
    assert debugger.ask(f"z0,{STORE:x},2") == "OK"
    debugger.send("c")
    assert debugger.interrupt() == "S02"
    assert debugger.register(0) > counted + 1


def test_a_step_is_one_instruction_at_a_breakpoint_too(debugger: Debugger) -> None:
    debugger.ask(f"Z0,{STORE:x},2")
    debugger.ask("c")
    places = []
    for _ in range(4):
        assert debugger.ask("s") == "S05"
        places.append(debugger.register(15))
    assert places == [STORE + 2, AGAIN, STORE, STORE + 2]


def test_registers_and_memories_are_read_and_written(debugger: Debugger, board: Bench) -> None:
    debugger.ask(f"Z0,{STORE:x},2")
    debugger.ask("c")
    assert debugger.ask("P0=78563412") == "OK"
    debugger.ask("s")
    assert debugger.ask(f"m{RAM:x},4") == "78563412"
    assert debugger.ask(f"M{RAM:x},2:ffee") == "OK"
    assert board.bus.load(RAM) == 0x1234_EEFF
    words = debugger.ask("g")
    assert len(words) == 17 * 8
    assert words[:8] == "78563412"
    assert debugger.ask("me000ed00,4") == "41c20f41"  # CPUID, a peripheral
    assert debugger.ask("m30000000,4") == "E01"  # nothing is there
    assert debugger.ask("P10=00000000") == "E01"
    assert debugger.ask("mxyz") == "E01"


def test_the_core_is_described_in_parts(debugger: Debugger) -> None:
    assert "qXfer:features:read+" in debugger.ask("qSupported:xmlRegisters=i386")
    first = debugger.ask("qXfer:features:read:target.xml:0,40")
    rest = debugger.ask("qXfer:features:read:target.xml:40,fff")
    assert (first[0], rest[0]) == ("m", "l")
    assert 'name="xpsr"' in first[1:] + rest[1:]
    assert debugger.ask("vMustReplyEmpty") == ""


def test_without_a_debugger_it_runs_on(port: int, debugger: Debugger) -> None:
    debugger.ask(f"Z0,{STORE:x},2")
    debugger.ask("c")
    before = debugger.register(0)
    assert debugger.ask("D") == "OK"
    again = Debugger(port)
    counted = again.register(0)
    while counted <= before:
        again.send("c")
        again.interrupt()
        counted = again.register(0)
    again.close()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("gdb-multiarch") is None, reason="gdb-multiarch is not there")
def test_gdb_itself_stops_and_reads(port: int, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text(
        f"target remote :{port}\nbreak *{STORE}\ncontinue\nstepi\np/x $pc\np/x *(int *)$r1\n"
    )
    command = ["gdb-multiarch", "-nx", "-batch", "-x", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert f"= {STORE + 2:#x}" in done.stdout
