"""Many echo boards on TCP, a forked process each: ``python -m tests.storm.echo_farm COUNT FOLDER``.

The first line of its output has their ports. Lines of its input are ``kill NUMBER`` and ``revive
NUMBER``; a board that is killed keeps its port, where nobody answers then. Each connection to a
board is a line in ``FOLDER/NUMBER.log`` when it opens and when it closes: two that overlap are two
runs on one board.
"""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import socket
import sys
import threading
import time
from pathlib import Path

from pytest_autodeploy.model.load import load_model
from pytest_autodeploy.rpc.service import Log
from tests.helpers.rpc_board import IDENTITY, Descriptor, EchoValidator, serve
from tests.helpers.support import DIGITS


def main(count: int, folder: Path) -> None:
    """Serve until the input ends."""
    listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    sha256 = bytes.fromhex(load_model(DIGITS).sha256)
    identity = dataclasses.replace(IDENTITY, board="apollo4p_evb", model_sha256=sha256)
    boards = [
        _start(listener, folder / f"{n}.log", identity) for n, listener in enumerate(listeners)
    ]
    ports = [listener.getsockname()[1] for listener in listeners]
    sys.stdout.write(f"{json.dumps(ports)}\n")
    sys.stdout.flush()
    for line in sys.stdin:
        order, number = line.split()[0], int(line.split()[1])
        if order == "kill":
            _end(boards[number])
        else:
            boards[number] = _start(listeners[number], folder / f"{number}.log", identity)
    for pid in boards:
        _end(pid)


def _end(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    except (ProcessLookupError, ChildProcessError):
        pass


def _start(listener: socket.socket, log: Path, identity: object) -> int:
    pid = os.fork()
    if pid:
        return pid
    try:
        _note(log, "alive", 0)
        while True:
            connection, (_, port) = listener.accept()
            arguments = (connection, log, port, identity)
            threading.Thread(target=_talk, args=arguments, daemon=True).start()
    finally:
        os._exit(1)


def _talk(connection: socket.socket, log: Path, port: int, identity: object) -> None:
    """One host: a board with a serial port has one at a time; here a second one shows."""
    _note(log, "open", port)
    try:
        with connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            validator = EchoValidator(identity)  # type: ignore[arg-type]
            serve(Descriptor(connection.fileno()), validator, Log())
    except OSError:
        pass
    finally:
        _note(log, "close", port)


def _note(log: Path, what: str, port: int) -> None:
    with log.open("a") as file:
        file.write(f"{time.monotonic():.4f} {what} {port}\n")


def overlaps(log: Path) -> list[str]:
    """What happened on a board while another connection was open."""
    found: list[str] = []
    opened: set[int] = set()
    for line in log.read_text().splitlines() if log.exists() else ():
        at, what, text = line.split()
        port = int(text)
        if what == "alive":  # it was killed, and its connections with it
            opened.clear()
        elif what == "open":
            if opened:
                found.append(f"{log.stem}: two hosts at {at}, ports {sorted(opened)} and {port}")
            opened.add(port)
        else:
            opened.discard(port)
    return found


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
