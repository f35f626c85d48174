"""neuralSPOT's own eRPC and service code, compiled for this PC, in front of a `StockFirmware`.

Of a checkout that ``NEURALSPOT_ROOT`` names, which has both under BSD licences. Nothing of its
runtimes and of its validator is compiled: those are for Ambiq's hardware only.
"""

from __future__ import annotations

import os
import shutil
import socket
import struct
import subprocess
import threading
import tty
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.helpers.stock_board import StockBoard
from tests.helpers.stock_firmware import StockFirmware

_ROOT = os.environ.get("NEURALSPOT_ROOT", "")
_ERPC = Path(_ROOT) / "extern/erpc/R1.9.1"
_RPC = Path(_ROOT) / "neuralspot/ns-rpc"
_SOURCES = (
    *("basic_codec", "crc16", "framed_transport", "message_buffer", "pre_post_action"),
    *("server", "server_setup", "setup_mbf_static", "simple_server"),
)
_STUBS = {
    "ns_ambiqsuite_harness.h": "#define ns_lp_printf(...) (void)0",
    "ns_usb.h": "typedef void *usb_handle_t;",
    "ns_uart.h": "typedef void *ns_uart_handle_t;",
}
"""What eRPC includes of the board."""

needs_neuralspot = pytest.mark.skipif(
    not (_ROOT and _ERPC.is_dir() and _RPC.is_dir() and shutil.which("c++")),
    reason="NEURALSPOT_ROOT names no neuralSPOT checkout, or there is no c++",
)


def build_server(folder: Path) -> Path:
    """The program that speaks eRPC 1.9.1 as a board does."""
    for name, text in _STUBS.items():
        (folder / name).write_text(f"#pragma once\n{text}\n")
    program = folder / "server"
    sources = [
        Path(__file__).with_suffix(".cpp"),
        *(_ERPC / "src" / f"erpc_{name}.cpp" for name in _SOURCES),
        _RPC / "src/GenericDataOperations_PcToEvb_server.cpp",
    ]
    includes = (folder, _ERPC / "includes-api", _RPC / "includes-api")
    command = ["c++", "-std=c++17", "-w", *(f"-I{include}" for include in includes)]
    subprocess.run([*command, *map(str, sources), "-o", str(program)], check=True, timeout=300)
    return program


@contextmanager
def erpc_pty(firmware: StockFirmware, program: Path) -> Iterator[StockBoard]:
    """A board behind a pseudo-terminal, whose frames are read by neuralSPOT's own code."""
    master, slave = os.openpty()
    tty.setraw(slave)
    ours, theirs = socket.socketpair()
    descriptors = master, theirs.fileno()
    command = [str(program), *map(str, descriptors)]
    with ours, theirs, subprocess.Popen(command, pass_fds=descriptors) as process:
        thread = threading.Thread(target=_answer, args=(firmware, ours), daemon=True)
        thread.start()
        try:
            yield StockBoard(firmware, os.ttyname(slave))
        finally:
            process.terminate()
            ours.shutdown(socket.SHUT_RDWR)
            thread.join()
    os.close(master)
    os.close(slave)


def _answer(firmware: StockFirmware, link: socket.socket) -> None:
    def take(size: int) -> bytes:
        data = b""
        while len(data) < size:
            some = link.recv(size - len(data))
            if not some:
                raise OSError("the server has ended")
            data += some
        return data

    with suppress(OSError):
        while True:
            method, command, size = struct.unpack("<3i", take(12))
            data = take(size)
            reply = (
                firmware.send(command, data)
                if method == 1
                else firmware.fetch()
                if method == 2
                else firmware.compute(command, data)
            )
            text = reply.description.encode()
            head = struct.pack("<4i", reply.status, len(text), reply.command, len(reply.data))
            link.sendall(head + text + reply.data)
