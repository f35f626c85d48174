"""Calls and inferences against a raw ping-pong of the same bytes, and bulk against its bounds.

The board is a process of its own, behind a pty or TCP.
"""

from __future__ import annotations

import multiprocessing
import os
import socket
import statistics
import time
import tty
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial

from pytest_autodeploy.rpc.client import ValidatorClient
from pytest_autodeploy.rpc.link import Link
from pytest_autodeploy.rpc.service import Log
from pytest_autodeploy.sim.throttle import ByteStream, Throttle
from tests.benchmarks.speed.figures import Figure
from tests.benchmarks.speed.timing import others
from tests.helpers.rpc_board import Descriptor, EchoValidator, serve

MB = 1_000_000
INPUT_BYTES = 490
"""Of kws; the board echoes them, so that requests and replies are of a size."""

FORK = multiprocessing.get_context("fork")


@contextmanager
def pty_client(
    *, bytes_per_s: float = 0, latency_ms: float = 0, tensor_bytes: int = 20 * MB
) -> Iterator[ValidatorClient]:
    """A client of a board behind a pty."""
    board, host = os.openpty()
    tty.setraw(host)
    with _served(Descriptor(board), bytes_per_s, latency_ms, tensor_bytes):
        yield from _client(os.ttyname(host))
    os.close(board)
    os.close(host)


@contextmanager
def tcp_client(
    *, bytes_per_s: float = 0, latency_ms: float = 0, tensor_bytes: int = 20 * MB
) -> Iterator[ValidatorClient]:
    """A client of a board behind a TCP port."""
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        _served(_Accepting(listener), bytes_per_s, latency_ms, tensor_bytes),
    ):
        yield from _client(f"socket://127.0.0.1:{listener.getsockname()[1]}")


class _Accepting(Descriptor):
    """A descriptor of the first connection."""

    def __init__(self, listener: socket.socket) -> None:
        super().__init__(-1)
        self._listener = listener
        self._connection: socket.socket | None = None

    def read(self, timeout_s: float) -> bytes:
        if self._connection is None:
            self._connection, _ = self._listener.accept()
            self._connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.descriptor = self._connection.fileno()
        return super().read(timeout_s)


@contextmanager
def _served(
    stream: ByteStream, bytes_per_s: float, latency_ms: float, tensor_bytes: int
) -> Iterator[None]:
    if bytes_per_s or latency_ms:
        stream = Throttle(stream, bytes_per_s=bytes_per_s, latency_ms=latency_ms)
    validator = EchoValidator(tensors=[bytearray(tensor_bytes)])
    process = FORK.Process(target=serve, args=(stream, validator, Log()), daemon=True)
    process.start()
    yield
    process.kill()
    process.join()


def _client(url: str) -> Iterator[ValidatorClient]:
    client = ValidatorClient(Link(url, board="echo"))
    client.identify()
    yield client
    client.close()


def _seconds(action: Callable[[], object]) -> float:
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def ratios(turns: int, calls: int) -> Iterator[Figure]:
    """Each kind of call against a ping-pong of as many bytes; blocks of either take turns."""
    for link, connect in LINKS.items():
        for what, action, sent, received, bound in KINDS:
            with (
                others() as busy,
                connect(tensor_bytes=INPUT_BYTES) as board,
                _bare(link, sent, received) as ping,
            ):
                call = partial(action, board)
                times = [_block(ping, call, calls) for _ in range(turns + 1)][1:]
            values = tuple(rpc / bare for bare, rpc in times)
            bare, rpc = (1e6 * statistics.median(each) for each in zip(*times, strict=True))
            yield Figure(
                f"{what} over {link}: over a ping-pong",
                "times",
                "ratio",
                values,
                bound[link],
                detail=f"{rpc:.0f} us, ping-pong {bare:.0f} us",
                others=busy.share,
                load=busy.load,
            )


def bulk(repeats: int) -> Iterator[Figure]:
    """Transfers over a throttled link against its bandwidth, and over one without bounds."""
    for link, connect in LINKS.items():
        for what, transfer in (("write", _write), ("read", _read)):
            with others() as busy, connect(bytes_per_s=MB, latency_ms=1) as client:
                times = [_seconds(partial(transfer, client, MB)) for _ in range(repeats)]
            yield Figure(
                f"{what} of 1 MB over {link} of 1 MB/s and 1 ms: over bytes / bandwidth",
                "times",
                "wall",
                tuple(seconds / (1 + 2e-3) for seconds in times),
                1.05,
                others=busy.share,
                load=busy.load,
            )
            with others() as busy, connect() as client:
                times = [_seconds(partial(transfer, client, 20 * MB)) for _ in range(repeats)]
            yield Figure(
                f"{what} of 20 MB over {link}",
                "MB/s",
                "wall",
                tuple(20 / seconds for seconds in times),
                10,
                "higher",
                others=busy.share,
                load=busy.load,
            )


def _block(ping: Callable[[], object], call: Callable[[], object], count: int) -> tuple[float, ...]:
    """Medians of both, one after the other ``count`` times: a block is one value."""
    pairs = [(_seconds(ping), _seconds(call)) for _ in range(count)]
    return tuple(statistics.median(times) for times in zip(*pairs, strict=True))


def _call(client: ValidatorClient) -> None:
    client.invoke()


def _infer(client: ValidatorClient) -> None:
    client.infer([bytes(INPUT_BYTES)], [INPUT_BYTES])


def _write(client: ValidatorClient, size: int) -> None:
    client.write_input(0, bytes(size))


def _read(client: ValidatorClient, size: int) -> None:
    client.read_output(0, size)


KINDS: list[tuple[str, Callable[[ValidatorClient], None], int, int, dict[str, float]]] = [
    ("a call", _call, 18, 39, {"pty": 2.5, "tcp": 4}),
    ("an inference", _infer, 18 + INPUT_BYTES, 31 + INPUT_BYTES, {"pty": 4.5, "tcp": 7}),
]
"""What is done, with the bytes of its request and of its reply, and the bound of each link."""

LINKS: dict[str, Callable[..., AbstractContextManager[ValidatorClient]]] = {
    "pty": pty_client,
    "tcp": tcp_client,
}


@contextmanager
def _bare(link: str, sent: int, received: int) -> Iterator[Callable[[], None]]:
    """Sends so many bytes to a process and takes so many back."""
    if link == "pty":
        board, host = os.openpty()
        tty.setraw(host)
    else:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            ours = socket.create_connection(listener.getsockname())
            theirs, _ = listener.accept()
        for end in (ours, theirs):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        board, host = theirs.detach(), ours.detach()
    process = FORK.Process(target=_echo, args=(board, sent, received), daemon=True)
    process.start()
    yield lambda: _ping(host, sent, received)
    process.kill()
    process.join()
    os.close(board)
    os.close(host)


def _echo(descriptor: int, sent: int, received: int) -> None:
    while True:
        _take(descriptor, sent)
        os.write(descriptor, bytes(received))


def _ping(descriptor: int, sent: int, received: int) -> None:
    os.write(descriptor, bytes(sent))
    _take(descriptor, received)


def _take(descriptor: int, count: int) -> bytes:
    data = b""
    while len(data) < count:
        data += os.read(descriptor, count - len(data))
    return data
