"""A throttled stream delivers everything, in order, and not before its time."""

from __future__ import annotations

import time

import pytest

from pytest_autodeploy.sim.throttle import Throttle


class Memory:
    """A stream whose bytes are there at once."""

    def __init__(self, arrived: bytes = b"") -> None:
        self.arrived = arrived
        self.sent = b""

    def read(self, timeout_s: float) -> bytes:
        if not self.arrived:
            time.sleep(timeout_s)
        data, self.arrived = self.arrived, b""
        return data

    def write(self, data: bytes) -> None:
        self.sent += data


@pytest.mark.parametrize(
    ("bytes_per_s", "latency_ms", "least_s"),
    [(100_000, 0, 0.01), (0, 5, 0.005), (100_000, 5, 0.015)],
)
def test_arriving_bytes_take_their_time(
    bytes_per_s: float, latency_ms: float, least_s: float
) -> None:
    data = bytes(range(250)) * 4
    throttle = Throttle(Memory(data), bytes_per_s=bytes_per_s, latency_ms=latency_ms)
    began = time.monotonic()
    received = b""
    while len(received) < len(data):
        received += throttle.read(1)
    assert received == data
    assert time.monotonic() - began >= least_s


def test_leaving_bytes_take_their_time() -> None:
    memory = Memory()
    throttle = Throttle(memory, bytes_per_s=100_000, latency_ms=5)
    began = time.monotonic()
    throttle.write(bytes(1000))
    assert memory.sent == b""
    throttle.flush()
    assert memory.sent == bytes(1000)
    assert time.monotonic() - began >= 0.015


def test_reading_also_sends_what_is_due() -> None:
    memory = Memory()
    throttle = Throttle(memory, latency_ms=1)
    throttle.write(b"reply")
    assert throttle.read(0.01) == b""
    assert memory.sent == b"reply"


def test_silence_ends_with_the_timeout() -> None:
    began = time.monotonic()
    assert Throttle(Memory(), latency_ms=1000).read(0.01) == b""
    assert time.monotonic() - began < 1


def test_a_throttle_without_bounds_adds_nothing() -> None:
    memory = Memory(b"request")
    throttle = Throttle(memory)
    assert throttle.read(0) == b"request"
    throttle.write(b"reply")
    throttle.read(0)
    assert memory.sent == b"reply"
