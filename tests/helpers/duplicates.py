"""A link on which requests arrive again, late, as behind a serial server that repeats itself."""

from __future__ import annotations

import random
import select
import socket
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pytest_autodeploy.rpc.client import ValidatorClient
from pytest_autodeploy.rpc.framing import FrameScanner, frame
from pytest_autodeploy.rpc.link import Link
from pytest_autodeploy.sim.throttle import ByteStream
from tests.helpers.firmware_support import REPLY_TIMEOUT_S, running

_REMEMBERED = 60


class Duplicates:
    """A stream whose requests come again, with some ``chance``, between later ones.

    ``but`` are calls that do not. With ``swallow`` the host does not see the answers to what came
    again. ``count`` is how many came again so far.
    """

    def __init__(
        self,
        stream: ByteStream,
        seed: int,
        *,
        chance: float = 0.3,
        but: tuple[int, ...] = (),
        swallow: bool = False,
    ) -> None:
        self.stream = stream
        self.count = 0
        self._chance = chance
        self._but = but
        self._swallow = swallow
        self._random = random.Random(seed)
        self._requests = FrameScanner()
        self._replies = FrameScanner()
        self._past: deque[bytes] = deque(maxlen=_REMEMBERED)
        self._wanted: deque[bool] = deque()

    def read(self, timeout_s: float) -> bytes:
        data = self.stream.read(timeout_s)
        return b"".join(self._with_late(body) for body in self._requests.feed(data))

    def write(self, data: bytes) -> None:
        for body in self._replies.feed(data):
            if not self._wanted or self._wanted.popleft():
                self.stream.write(frame(body))

    def _with_late(self, body: bytes) -> bytes:
        data = self._late() + frame(body)
        self._wanted.append(True)
        if body[1] not in self._but:
            self._past.append(body)
        return data + self._late()

    def _late(self) -> bytes:
        """Most often one of the latest requests."""
        if not self._past or self._random.random() >= self._chance:
            return b""
        self.count += 1
        self._wanted.append(not self._swallow)
        age = min(int(self._random.expovariate(0.2)), len(self._past) - 1)
        return frame(self._past[-1 - age])


class _Socket:
    def __init__(self, link: socket.socket) -> None:
        self._link = link

    def read(self, timeout_s: float) -> bytes:
        if not select.select([self._link], [], [], timeout_s)[0]:
            return b""
        if data := self._link.recv(65536):
            return data
        raise OSError("the link was closed")

    def write(self, data: bytes) -> None:
        self._link.sendall(data)


@contextmanager
def duplicating_board(program: Path, seed: int, **options: Any) -> Iterator[tuple[str, Duplicates]]:
    """A board of this PC behind a TCP port on which requests come again; its address."""
    ours, theirs = socket.socketpair()
    with running(program, theirs), duplicating_link(ours, seed, **options) as link:
        yield link


@contextmanager
def duplicating_port(url: str, seed: int, **options: Any) -> Iterator[tuple[str, Duplicates]]:
    """The same in front of the TCP port of a board, to which nobody else is connected."""
    host, port = url.removeprefix("socket://").split(":")
    board = socket.create_connection((host, int(port)))
    board.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with duplicating_link(board, seed, **options) as link:
        yield link


@contextmanager
def duplicating_link(
    board: socket.socket, seed: int, **options: Any
) -> Iterator[tuple[str, Duplicates]]:
    """A TCP port for one host after the other, on which requests to the board come again."""
    with socket.create_server(("127.0.0.1", 0)) as listener, board:
        late = Duplicates(_Socket(board), seed, **options)
        relay = threading.Thread(target=_relay, args=(listener, _Socket(board), late), daemon=True)
        relay.start()
        yield f"127.0.0.1:{listener.getsockname()[1]}", late
        board.shutdown(socket.SHUT_RDWR)
        relay.join()


def _relay(listener: socket.socket, board: _Socket, late: Duplicates) -> None:
    listener.settimeout(0.1)
    with suppress(OSError):
        while True:
            try:
                host, _ = listener.accept()
            except TimeoutError:
                board.read(0)  # the end raises OSError
                continue
            host.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with host:
                _serve(host, board, late)


def _serve(host: socket.socket, board: _Socket, late: Duplicates) -> None:
    late.stream = _Socket(host)
    stop = threading.Event()

    def back() -> None:
        with suppress(OSError):
            while not stop.is_set():
                late.write(board.read(0.02))

    backward = threading.Thread(target=back, daemon=True)
    backward.start()
    with suppress(OSError):
        while True:
            board.write(late.read(1.0))
    stop.set()
    backward.join()


def client_of(address: str) -> ValidatorClient:
    """The project's client of such a board."""
    return ValidatorClient(Link(f"socket://{address}", board="late"), REPLY_TIMEOUT_S)
