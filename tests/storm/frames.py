"""Frames that no host sends, at a board: it has to live, to answer, and to compute as before."""

from __future__ import annotations

import os
import random
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from erpc.codec import MessageInfo, MessageType

from pytest_autodeploy.base.errors import BoardError
from pytest_autodeploy.board.base import Board
from pytest_autodeploy.board.process_board import ProcessBoard
from pytest_autodeploy.model.graph import Model
from pytest_autodeploy.reference.inputs import random_inputs
from pytest_autodeploy.rpc.calls import ARM_POWER, CALLS, REBOOT
from pytest_autodeploy.rpc.framing import frame
from pytest_autodeploy.rpc.messages import SERVICE_ID
from pytest_autodeploy.rpc.wire import MessageCodec
from pytest_autodeploy.session.model_session import ModelSession
from tests.storm.tally import Tally

BATCH = 100
"""Frames between two looks at the board."""

PATIENCE_S = 60.0
"""For a board that still works on what was sent, on a PC that is busy."""

_NASTY = (0, 1, 2, 3, 16, 255, 256, 4096, 65535, 1 << 20, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)


def random_frame(chance: random.Random) -> bytes:
    """A request of any call with any arguments, often broken further."""
    body = _body(chance)
    kind = chance.randrange(8)
    if kind == 0:
        return chance.randbytes(chance.randint(1, 64))
    if kind == 1:  # a good checksum over a body with flipped bits
        at = chance.randrange(len(body))
        body[at] ^= 1 << chance.randrange(8)
    elif kind == 2:
        del body[chance.randrange(len(body)) :]
    elif kind == 3:
        body += chance.randbytes(chance.randint(1, 300))
    data = bytearray(frame(body) if body else b"\0")
    if kind == 4:
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    elif kind == 5:
        del data[chance.randrange(len(data)) :]
    elif kind == 6:
        return bytes(data * chance.randint(2, 4))
    return bytes(data)


def _body(chance: random.Random) -> bytearray:
    # A restart ends what the board does, and a power window may be silent for days: both are told
    # to whoever asks for them, and are no damage.
    known = [call for call in CALLS if call not in (REBOOT.id, ARM_POWER.id)]
    number = chance.choice(known) if chance.random() < 0.95 else chance.randrange(256)
    kind = chance.choice([MessageType.kInvocationMessage] * 8 + list(MessageType))
    service = SERVICE_ID if chance.random() < 0.97 else chance.randrange(256)
    codec = MessageCodec()
    codec.start_write_message(MessageInfo(kind, service, number, _number(chance)))
    for _ in range(chance.randrange(4)):
        codec.write_uint32(_number(chance))
    return bytearray(codec.buffer) + chance.randbytes(chance.choice((0, 0, 0, 1, 5, 40)))


def _number(chance: random.Random) -> int:
    return chance.choice(_NASTY) if chance.random() < 0.7 else chance.randrange(1 << 32)


@contextmanager
def raw_link(port: str) -> Iterator[Callable[[bytes], None]]:
    """Sends bytes to a board and drops what it answers."""
    if port.startswith("socket://"):
        host, _, number = port.removeprefix("socket://").partition(":")
        with socket.create_connection((host, int(number))) as link:
            yield lambda data: _send(link, data)
        return
    with Path(port).open("r+b", buffering=0) as terminal:
        yield lambda data: _send_to(terminal.fileno(), data)


def _send(link: socket.socket, data: bytes) -> None:
    link.setblocking(False)
    until = time.monotonic() + PATIENCE_S
    view = memoryview(data)
    while view and time.monotonic() < until:
        try:
            view = view[link.send(view) :]
        except BlockingIOError:
            time.sleep(0.001)
        _drop(lambda: link.recv(65536))


def _send_to(descriptor: int, data: bytes) -> None:
    os.set_blocking(descriptor, False)
    until = time.monotonic() + PATIENCE_S
    view = memoryview(data)
    while view and time.monotonic() < until:
        try:
            view = view[os.write(descriptor, view) :]
        except BlockingIOError:
            time.sleep(0.001)
        _drop(lambda: os.read(descriptor, 65536))


def _drop(read: Callable[[], bytes]) -> None:
    try:
        while read():
            pass
    except BlockingIOError:
        return


def storm(name: str, board: Board, model: Model, count: int, seed: int) -> Tally:
    """Send ``count`` frames to a board; after each batch it has to answer and to compute.

    The truth is what the board computed before the storm, which a test holds against the PC.
    """
    tally, began = Tally(name), time.monotonic()
    session = ModelSession(model, board, inputs=random_inputs(model, 1, 1))
    truth = session.run().outputs[0].copy()
    while tally.injected < count:
        chance = random.Random(f"{seed}/{tally.injected}")
        batch = [random_frame(chance) for _ in range(min(BATCH, count - tally.injected))]
        assert board.port is not None
        board.client.close()
        with raw_link(board.port) as send:
            for data in batch:
                send(data)
        _look(tally, session, truth, f"seed {seed}/{tally.injected}")
        tally.injected += len(batch)
    tally.seconds = time.monotonic() - began
    return tally


def pid_of(board: Board) -> int | None:
    """The process behind a board."""
    assert isinstance(board, ProcessBoard)
    return board.pid


def _reopen(board: Board) -> None:
    """Connect to the board anew, as another run would."""
    assert isinstance(board, ProcessBoard)
    assert board.port is not None
    board._open(board.port)


def _look(tally: Tally, session: ModelSession, truth: np.ndarray, case: str) -> None:
    """The board has to be alive and to compute what it computed; a new one takes over else."""
    pid = pid_of(session.board)
    try:
        _reopen(session.board)
        session.begin()
        outputs = session.run().outputs[0]
    except BoardError as error:
        tally.hangs += 1
        tally.case(f"{case}: {error}")
        session.board.discard()
        session.begin()
        return
    if pid_of(session.board) != pid:
        tally.hangs += 1
        tally.case(f"{case}: the board had died")
    elif not np.array_equal(outputs, truth):
        tally.wrong += 1
        tally.case(f"{case}: other outputs than before")
    else:
        tally.recovered += 1
