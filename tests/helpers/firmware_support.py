"""What the tests of the firmware share: its builds, and boards that are processes of this PC."""

from __future__ import annotations

import binascii
import os
import shutil
import socket
import struct
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from filelock import FileLock

from pytest_autodeploy.base.resources import resource
from pytest_autodeploy.rpc.client import ValidatorClient
from pytest_autodeploy.rpc.framing import FRAME_HEADER_BYTES, frame, parse_header
from pytest_autodeploy.rpc.link import Link
from pytest_autodeploy.rpc.messages import SERVICE_ID

FIRMWARE = resource("firmware")
SMALL = FIRMWARE / "tests" / "small"
LOADED = FIRMWARE / "tests" / "loaded"
REPLY_TIMEOUT_S = 10.0
_BUILD_TIMEOUT_S = 300


def needs(*programs: str) -> pytest.MarkDecorator:
    """Skips where a program is missing, and says which."""
    missing = [program for program in programs if shutil.which(program) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")


needs_host_build = needs("cmake", "ninja", "c++")
needs_qemu = needs("cmake", "ninja", "arm-none-eabi-g++", "qemu-system-arm")


def build(config: pytest.Config, *targets: str, **options: object) -> Path:
    """Builds targets of the firmware with CMake options; the folder where they are.

    The folder is in pytest's cache and shared by processes, so that only what changed is compiled.
    """
    defines = [f"-D{option}={value}" for option, value in sorted(options.items())]
    cache = getattr(config, "cache", None)  # absent under -p no:cacheprovider
    kept = cache.mkdir("firmware") if cache else Path(tempfile.gettempdir()) / "autodeploy-tests"
    kept.mkdir(parents=True, exist_ok=True)
    folder = kept / f"{binascii.crc32(repr([str(FIRMWARE), *defines]).encode()):08x}"
    with FileLock(f"{folder}.lock"):
        if not (folder / "build.ninja").exists():
            _run("cmake", "-G", "Ninja", "-S", str(FIRMWARE), "-B", str(folder), *defines)
        _run("ninja", "-C", str(folder), *targets)
    return folder


def host_build(config: pytest.Config, *targets: str, folder: Path = SMALL) -> Path:
    """The build for this PC with sanitizers and the sizes of ``folder``: small ones."""
    return build(config, *targets, BOARD="host", SANITIZE="ON", CONFIG_DIR=folder)


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=_BUILD_TIMEOUT_S)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]


@contextmanager
def running(
    program: Path, link: socket.socket, **environment: str
) -> Iterator[subprocess.Popen[bytes]]:
    """A board of this PC that speaks over ``link``; it ends with the link."""
    with link:
        process = subprocess.Popen(
            [program],
            stdin=link.fileno(),
            stdout=link.fileno(),
            stderr=subprocess.PIPE,
            env={**os.environ, **environment},
        )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@contextmanager
def host_client(program: Path) -> Iterator[ValidatorClient]:
    """The project's client, connected with a board of this PC."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        client = ValidatorClient(Link(f"socket://127.0.0.1:{port}", board="host"), REPLY_TIMEOUT_S)
        connection, _ = listener.accept()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with running(program, connection):
        try:
            yield client
        finally:
            client.close()


class Wire:
    """The bare bytes of a link to a board."""

    def __init__(self, link: socket.socket) -> None:
        self._link = link
        self._link.settimeout(REPLY_TIMEOUT_S)

    def send(self, data: bytes) -> None:
        self._link.sendall(data)

    def reply(self) -> bytes:
        """The body of the next reply, which has to follow without stray bytes."""
        header = self._take(FRAME_HEADER_BYTES)
        announced = parse_header(header)
        assert announced, header
        body = self._take(announced[0])
        assert frame(body)[:FRAME_HEADER_BYTES] == header
        return body

    def ask(self, call: int, arguments: bytes = b"", sequence: int = 1) -> bytes:
        self.send(frame(request(call, arguments, sequence)))
        return self.reply()

    def is_quiet(self, seconds: float) -> bool:
        """Whether nothing arrives for so long."""
        self._link.settimeout(seconds)
        try:
            return not self._link.recv(1)
        except TimeoutError:
            return True
        finally:
            self._link.settimeout(REPLY_TIMEOUT_S)

    def _take(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            part = self._link.recv(count - len(data))
            assert part, "the board went away"
            data += part
        return data


@contextmanager
def host_wire(program: Path) -> Iterator[Wire]:
    """The bare link to a board of this PC."""
    ours, theirs = socket.socketpair()
    with ours, running(program, theirs):
        yield Wire(ours)


def request(
    call: int, arguments: bytes = b"", sequence: int = 1, service: int = SERVICE_ID
) -> bytes:
    """The body of a request."""
    return struct.pack("<II", 1 << 24 | service << 16 | call << 8, sequence) + arguments


def words(*values: int) -> bytes:
    """Values as uint32."""
    return struct.pack(f"<{len(values)}I", *values)


def status_of(reply: bytes) -> int:
    """The status at the end of a reply."""
    return int.from_bytes(reply[-4:], "little", signed=True)
