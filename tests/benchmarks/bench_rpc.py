"""How fast the RPC is against its bounds: ``pytest -s tests/benchmarks/bench_rpc.py``, on demand.

The board is a process of its own, behind a pty or TCP, with a link that is throttled or not.
"""

from __future__ import annotations

import multiprocessing
import os
import socket
import statistics
import sys
import time
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from pytest_autodeploy.rpc.client import ValidatorClient
from pytest_autodeploy.rpc.link import Link
from pytest_autodeploy.rpc.service import Log
from pytest_autodeploy.sim.throttle import ByteStream, Throttle
from tests.helpers.rpc_board import Descriptor, EchoValidator, serve

MB = 1_000_000
CALLS = 2000
INPUT_BYTES, OUTPUT_BYTES = 490, 12
REQUEST_BYTES = INPUT_BYTES + 18
"""An inference in one call: the frame's header, the message's head and the length."""

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


def _report(what: str, value: float, unit: str, limit: float) -> None:
    sys.stdout.write(f"\n{what}: {value:.4g} {unit}, limit {limit:g}\n")


CLIENTS = [pytest.param(pty_client, id="pty"), pytest.param(tcp_client, id="tcp")]
TRANSFERS = [
    pytest.param(lambda client, size: client.write_input(0, bytes(size)), id="write"),
    pytest.param(lambda client, size: client.read_output(0, size), id="read"),
]


@pytest.mark.parametrize("connect", CLIENTS)
@pytest.mark.parametrize("transfer", TRANSFERS)
def test_1_mb_over_1_mb_per_s_and_1_ms(
    connect: Callable[..., object], transfer: Callable[..., object], request: pytest.FixtureRequest
) -> None:
    with connect(bytes_per_s=MB, latency_ms=1) as client:  # type: ignore[attr-defined]
        seconds = _seconds(lambda: transfer(client, MB))
    ratio = seconds / (1 + 2e-3)
    _report(f"{request.node.name}: time over bytes/bandwidth + round trip", ratio, "", 1.05)
    assert ratio <= 1.05


@pytest.mark.parametrize("connect", CLIENTS)
@pytest.mark.parametrize("transfer", TRANSFERS)
def test_20_mb_over_an_unthrottled_link(
    connect: Callable[..., object], transfer: Callable[..., object], request: pytest.FixtureRequest
) -> None:
    with connect() as client:  # type: ignore[attr-defined]
        speed = 20 / _seconds(lambda: transfer(client, 20 * MB))
    _report(f"{request.node.name}: speed", speed, "MB/s", 10)
    assert speed >= 10


@pytest.mark.parametrize("connect", CLIENTS)
def test_a_call(connect: Callable[..., object], request: pytest.FixtureRequest) -> None:
    with connect() as client:  # type: ignore[attr-defined]
        times = [_seconds(client.invoke) * 1e3 for _ in range(CALLS)]
    median, p99 = statistics.median(times), statistics.quantiles(times, n=100)[98]
    _report(f"{request.node.name}: invoke, median (99 %: {p99:.3g} ms)", median, "ms", 1)
    assert median <= 1


def _old_way(client: ValidatorClient) -> None:
    client.write_input(0, bytes(INPUT_BYTES))
    client.invoke()
    client.read_output(0, OUTPUT_BYTES)


def _one_call(client: ValidatorClient) -> None:
    client.infer([bytes(INPUT_BYTES)], [INPUT_BYTES])


WAYS = [
    pytest.param(_old_way, 20.0, id="write, invoke, read"),
    pytest.param(_one_call, 8.0, id="infer"),
]


@pytest.mark.parametrize(("infer", "limit"), WAYS)
@pytest.mark.parametrize("link", ["pty", "tcp"])
def test_an_inference_against_a_bare_ping_pong_of_the_same_bytes(
    link: str,
    infer: Callable[[ValidatorClient], None],
    limit: float,
    request: pytest.FixtureRequest,
) -> None:
    """The two take turns, so that what else the machine does befalls both."""
    client = {"pty": pty_client, "tcp": tcp_client}[link](tensor_bytes=INPUT_BYTES)
    with client as board, _bare(link) as ping:
        pairs = [(_seconds(ping), _seconds(lambda: infer(board))) for _ in range(CALLS // 4)]
    bare, rpc = (statistics.median(times) * 1e3 for times in zip(*pairs, strict=True))
    _report(f"{request.node.name}: {rpc:.3g} ms over {bare:.3g} ms", rpc / bare, "", limit)
    assert rpc / bare <= limit


@contextmanager
def _bare(link: str) -> Iterator[Callable[[], None]]:
    """Sends as many bytes as the request of an inference to a process and takes as many back."""
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
    process = FORK.Process(target=_echo, args=(board,), daemon=True)
    process.start()
    yield lambda: _ping(host)
    process.kill()
    process.join()
    os.close(board)
    os.close(host)


def _echo(descriptor: int) -> None:
    while True:
        os.write(descriptor, _take(descriptor, REQUEST_BYTES))


def _ping(descriptor: int) -> None:
    os.write(descriptor, bytes(REQUEST_BYTES))
    _take(descriptor, REQUEST_BYTES)


def _take(descriptor: int, count: int) -> bytes:
    data = b""
    while len(data) < count:
        data += os.read(descriptor, count - len(data))
    return data
