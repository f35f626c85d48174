"""Leases on Linux: abstract Unix sockets, one bound by the owner of each thing.

The kernel tells who waits the process and the user of the owner (SO_PEERCRED), and wakes them when
its socket closes. Sockets belong to a network namespace: containers with one of their own do not
see each other's. What is written of since when is in the name of a second socket, so that an owner
that is stopped answers too.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import select
import socket
import struct
import time
import weakref
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from pytest_autodeploy.base.lease_holder import Holder, LeaseUnusable, short

SPACE = "AUTODEPLOY_LEASE_SPACE"
"""A variable of the environment that parts the leases of tests from those of real boards."""

WAY_S = 1.0
"""For so long who gave a lease up does not take it again, when others wait for it."""

_NAMES = "\0pytest-autodeploy"
_BACKLOG = 128
_CREDENTIALS = struct.Struct("3i")
_AGAIN_S = 0.02
_SWITCHES = re.compile(r"-[bBdEiIOPqsSuvx]+")
"""Of Python, that come alone."""

_given_way: dict[str, float] = {}
_held: weakref.WeakSet[SocketLease] = weakref.WeakSet()


class SocketLease:
    """A lease of this process."""

    def __init__(self, identity: str, listener: socket.socket, note: socket.socket | None) -> None:
        self.identity = identity
        self._listener = listener
        self._note = note
        _held.add(self)

    def release(self) -> None:
        """Give it up, first to those who wait."""
        if self._listener.fileno() < 0:
            return
        if self._awaited():
            _given_way[_key(self.identity)] = time.monotonic() + WAY_S
        self.forget()

    def forget(self) -> None:
        """Close the sockets of this process."""
        _held.discard(self)
        for each in (self._note, self._listener):
            if each is not None:
                each.close()

    def _awaited(self) -> bool:
        """Whether somebody is connected who is still there."""
        self._listener.setblocking(False)
        with ExitStack() as stack, suppress(OSError):
            while True:
                waiting = stack.enter_context(self._listener.accept()[0])
                waiting.setblocking(False)
                try:
                    gone = waiting.recv(1) == b""
                except BlockingIOError:
                    return True
                if not gone:
                    return True
        return False


def try_socket(identity: str) -> SocketLease | None:
    """The lease, None while another has it. Raises LeaseUnusable."""
    key = _key(identity)
    if _gives_way(key):
        return None
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(f"{_NAMES}/lease/{key}")
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            return None
        raise LeaseUnusable(
            f"cannot have the lease of {identity}: {error.strerror or error}",
            hint="abstract Unix sockets have to be allowed",
        ) from None
    return SocketLease(identity, listener, _note(key))


def socket_holder(identity: str) -> Holder | None:
    """Who has a lease now, as the kernel tells; None when nobody has."""
    key = _key(identity)
    with _connected(key) as connection:
        if connection is None:
            return None
        pid, user, _ = _credentials(connection)
    # 0 is a process of another namespace of processes, 65534 a user of another one of users.
    own = any(lease.identity == identity for lease in _held)
    return Holder(pid or None, _user(user), _since(key), _command(pid), own)


def wait_for_sockets(identities: Sequence[str], timeout_s: float) -> None:
    """Wait until one of the owners gives up; a little while for what nobody has."""
    with ExitStack() as stack:
        poll, watched = select.poll(), 0
        for identity in identities:
            connection = stack.enter_context(_connected(_key(identity)))
            if connection is not None:
                poll.register(connection, select.POLLIN | select.POLLHUP)
                watched += 1
        if watched < len(set(identities)) or not identities:
            time.sleep(min(timeout_s, _AGAIN_S))
        else:
            poll.poll(1000 * timeout_s)


class _connected:  # noqa: N801  # a context
    """A connection to the owner of a lease: it ends with the lease; None where there is none."""

    def __init__(self, key: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.setblocking(False)
        try:
            self._socket.connect(f"{_NAMES}/lease/{key}")
        except OSError:  # refused: nobody; would block: too many wait already
            self._socket.close()

    def __enter__(self) -> socket.socket | None:
        return self._socket if self._socket.fileno() >= 0 else None

    def __exit__(self, *_: object) -> None:
        self._socket.close()


def _key(identity: str) -> str:
    """The name of a socket has 107 bytes."""
    text = f"{os.environ.get(SPACE, '')}\0{identity}"
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _gives_way(key: str) -> bool:
    """Whether it is the turn of those who waited when this process gave the lease up."""
    until = _given_way.get(key)
    if until is None:
        return False
    with _connected(key) as connection:
        if connection is None and time.monotonic() < until:
            return True
    del _given_way[key]
    return False


def _note(key: str) -> socket.socket | None:
    note = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        note.bind(f"{_NAMES}/since/{key}/{int(time.time())}")
    except OSError:
        note.close()
        return None
    return note


def _since(key: str) -> float | None:
    prefix = f"@{_NAMES[1:]}/since/{key}/"
    with suppress(OSError, ValueError):
        for line in Path("/proc/net/unix").read_text(errors="replace").splitlines():
            name = line.rpartition(" ")[2]
            if name.startswith(prefix):
                return float(int(name.removeprefix(prefix)[:12]))
    return None


def _credentials(connection: socket.socket) -> tuple[int, int, int]:
    data = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    pid, user, group = _CREDENTIALS.unpack(data)
    return pid, user, group


def _user(number: int) -> str:
    import pwd

    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"uid {number}"


def _command(pid: int) -> str:
    """What a process was started with, where the system shows that to other users.

    Of a worker of xdist, which only has code, it is what its parent was started with.
    """
    process = Path(f"/proc/{pid}")
    with suppress(OSError, ValueError):
        words = _without_interpreter(process.joinpath("cmdline").read_bytes().split(b"\0"))
        if words == ["-c"]:
            parent = process.joinpath("stat").read_text().rpartition(")")[2].split()[1]
            return _command(int(parent)) if int(parent) > 1 else ""
        return short(" ".join(words))
    return ""


def _without_interpreter(command: Sequence[bytes]) -> list[str]:
    """``python3 -u -m pytest tests`` is run as ``pytest tests``; code is left out."""
    words = [word.decode("utf-8", "replace") for word in command if word]
    if len(words) < 2 or not Path(words[0]).name.startswith("python"):
        return [Path(words[0]).name, *words[1:]] if words else []
    words = words[1:]
    while _SWITCHES.fullmatch(words[0]) and len(words) > 1:
        words = words[1:]
    how, what = words[0][:2], words[0][2:]
    if how in ("-m", "-c"):
        rest = words[1:] if what else words[2:]
        return ["-c", *rest] if how == "-c" else [what or words[1], *rest]
    return [Path(words[0]).name, *words[1:]]


def _after_fork() -> None:
    """A child that lives on must not keep what its parent had."""
    for lease in list(_held):
        lease.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
