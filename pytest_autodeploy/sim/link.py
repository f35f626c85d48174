"""The simulated board's link to its host: a pseudo-terminal or a TCP port, as slow as asked for."""

from __future__ import annotations

import contextlib
import os

from pytest_autodeploy.sim.stream import PtyStream, TcpStream
from pytest_autodeploy.sim.throttle import ByteStream, Throttle


def open_stream(address: tuple[str, int] | None) -> PtyStream | TcpStream:
    """A pseudo-terminal where there are such and no address is given, else a TCP port."""
    if address is None and hasattr(os, "openpty"):
        # In a container there may be none, or no more of them: a port of this PC does as well.
        with contextlib.suppress(OSError):
            return PtyStream()
    return TcpStream(*(address or ("127.0.0.1", 0)))


def slow_down(stream: ByteStream, bytes_per_s: float, latency_ms: float) -> ByteStream:
    """The stream with a bound and a delay; both 0: the stream itself."""
    if not bytes_per_s and not latency_ms:
        return stream
    return Throttle(stream, bytes_per_s=bytes_per_s, latency_ms=latency_ms)
