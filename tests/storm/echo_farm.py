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
import select
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

STALE_S = 1.0
"""What came while a board was dead is taken up, and seen to be over, when it is back."""


class Connection(Descriptor):
    """A connection that breaks when the host has closed it."""

    def read(self, timeout_s: float) -> bytes:
        ready, _, _ = select.select([self.descriptor], [], [], timeout_s)
        if not ready:
            return b""
        data = os.read(self.descriptor, 65536)
        if not data:
            raise ConnectionResetError
        return data


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
            serve(Connection(connection.fileno()), validator, Log())
    except OSError:
        pass
    finally:
        _note(log, "close", port)


def _note(log: Path, what: str, port: int) -> None:
    with log.open("a") as file:
        file.write(f"{time.monotonic():.4f} {what} {port}\n")


def overlaps(log: Path) -> list[str]:
    """Which connections to a board were open at once, for longer than ``STALE_S``."""
    spans = _spans(log)
    found: list[str] = []
    for number, (began, ended, port) in enumerate(spans):
        for other_began, other_ended, other in spans[number + 1 :]:
            shared = min(ended, other_ended) - max(began, other_began)
            if shared > STALE_S:
                found.append(f"{log.stem}: hosts {port} and {other} at once for {shared:.1f} s")
    return found


def _spans(log: Path) -> list[tuple[float, float, int]]:
    """Of each connection: when it was opened and closed, and the host's port."""
    spans: list[tuple[float, float, int]] = []
    opened: dict[int, float] = {}
    last = 0.0
    for line in log.read_text().splitlines() if log.exists() else ():
        text, what, number = line.split()
        at, port = float(text), int(number)
        if what == "open":
            opened[port] = at
        elif what == "close" and port in opened:
            spans.append((opened.pop(port), at, port))
        elif what == "alive":  # it was killed before, and its connections with it
            spans += [(began, last, other) for other, began in opened.items()]
            opened.clear()
        last = at
    return spans + [(began, last, other) for other, began in opened.items()]


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
