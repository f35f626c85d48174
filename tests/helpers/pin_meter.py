"""The firmware for this PC with its pins on a socket, and a power meter at the other end."""

from __future__ import annotations

import socket
import struct
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from pytest_autodeploy.base.errors import BoardError
from pytest_autodeploy.catalog.boards import board_spec
from pytest_autodeploy.image.image import Image
from pytest_autodeploy.power.meter import Chunk, MeterFacts
from pytest_autodeploy.rpc.client import ValidatorClient
from pytest_autodeploy.rpc.link import Link
from pytest_autodeploy.rpc.messages import Identity

RATE_HZ = 100_000.0
VOLTS, AMPERES = 1.8, 0.01
PIECE_S = 0.005
LATE_S = 0.02
"""How long a change of the pins may take to get here."""

_CHANGE = struct.Struct("<BQ")


class PinMeter:
    """Samples the pins of a board of this PC in real time, by the clock that both share.

    ``rate_hz`` is what it says of its rate; ``connected`` is whether its trigger is.
    """

    def __init__(self, pins: socket.socket) -> None:
        self.rate_hz = RATE_HZ
        self.connected = True
        self._pins = pins
        self._changes: list[tuple[int, int]] = []
        self._level = 0
        self._received = b""

    def open(self) -> MeterFacts:
        return MeterFacts("pins", "modelled", self.rate_hz, max_a=10.0, max_v=15.0)

    def supply(self, on: bool) -> None:
        """The board is a process."""

    def trigger(self, high: bool) -> None:
        if self.connected:
            self._pins.sendall(bytes([high]))

    @contextmanager
    def streaming(self) -> Iterator[Iterator[Chunk]]:
        yield self._chunks()

    def close(self) -> None:
        """The socket belongs to the test."""

    def _chunks(self) -> Iterator[Chunk]:
        began = time.monotonic_ns()
        position = 0
        while True:
            time.sleep(PIECE_S)
            until = time.monotonic_ns() - round(1e9 * LATE_S)
            end = int((until - began) * RATE_HZ / 1e9)
            if end > position:
                self._receive()
                yield self._piece(began, position, end)
                position = end

    def _receive(self) -> None:
        try:
            self._received += self._pins.recv(4096, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return
        whole = len(self._received) // _CHANGE.size * _CHANGE.size
        for lines, ticks in _CHANGE.iter_unpack(self._received[:whole]):
            self._changes.append((ticks, lines))
        self._received = self._received[whole:]

    def _piece(self, began: int, position: int, end: int) -> Chunk:
        count = end - position
        lines = np.full(count, self._level, np.uint8)
        while self._changes:
            ticks, level = self._changes[0]
            index = int((ticks - began) * RATE_HZ / 1e9) - position
            if index >= count:
                break
            lines[max(index, 0) :] = self._level = level
            del self._changes[0]
        current, voltage = (np.full(count, value, np.float32) for value in (AMPERES, VOLTS))
        return Chunk(position, current, voltage, lines)


class PinBoard:
    """The process as a board that already runs its model."""

    id = "pins"
    spec = board_spec("apollo4p_evb")
    port = None

    def __init__(self, client: ValidatorClient) -> None:
        self.client = client

    def start(self) -> None:
        """It runs."""

    def load(self, _image: Image) -> Identity:
        return self.client.identify()

    def explain(self, error: BoardError) -> BoardError:
        return error

    def discard(self) -> None:
        """It stays."""

    def close(self) -> None:
        self.client.close()


@contextmanager
def pin_board(program: Path, timeout_s: float) -> Iterator[tuple[PinBoard, PinMeter]]:
    """The firmware as a process, its link a TCP port, its pins a socket."""
    ours, theirs = socket.socketpair()
    with ours, theirs, socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        client = ValidatorClient(Link(f"socket://127.0.0.1:{port}", board="pins"), timeout_s)
        link, _ = listener.accept()
        process = subprocess.Popen(
            [program],
            stdin=link.fileno(),
            stdout=link.fileno(),
            pass_fds=[theirs.fileno()],
            env={"AUTODEPLOY_PINS": str(theirs.fileno())},
        )
        link.close()
        try:
            yield PinBoard(client), PinMeter(ours)
        finally:
            client.close()
            process.kill()
            process.wait()
