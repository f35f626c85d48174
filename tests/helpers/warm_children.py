"""Children of this process that need not start Python and import NumPy and TFLM each time.

Most of what the tests cost was the start of simulated boards and of the PC's side, hundreds of
times the same. Here such a child is forked from a process that has imported what they import
(``warm_server``). It is a process of its own that runs its own program on its own pipes, and it is
killed and waited for like any other; only ``python -m`` is left out, which runs in processes of
their own (``runpytest_subprocess``, ``tests/sim/test_process.py``, the command) still go through.

``AUTODEPLOY_COLD_CHILDREN=1`` starts every child anew.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import resource
import select
import signal
import socket
import subprocess
import sys
import threading
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from pytest_autodeploy.base import process
from tests.helpers import warm_server

COLD = "AUTODEPLOY_COLD_CHILDREN"

_INIT = subprocess.Popen.__init__
_LIMITS = tuple(value for name, value in vars(resource).items() if name.startswith("RLIMIT_"))


class WarmProcess:
    """A forked child, with what ``base.process.Child`` uses of a ``subprocess.Popen``."""

    def __init__(self, pid: int, stdin: int, stdout: int, ended: int) -> None:
        self.pid = pid
        self.stdin = open(stdin, "wb")  # noqa: SIM115
        self.stdout = open(stdout, "rb")  # noqa: SIM115
        self.returncode: int | None = None
        self._ended = ended
        self._turn = threading.Lock()
        self._close_ended = weakref.finalize(self, os.close, ended)

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code, minus the signal that it died of. Raises subprocess.TimeoutExpired."""
        if self.returncode is None:
            poll = select.poll()  # not select(), which knows no descriptor above 1023
            poll.register(self._ended, select.POLLIN)
            if not poll.poll(None if timeout is None else max(0, 1e3 * timeout)):
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
            self._take_end()
        assert self.returncode is not None
        return self.returncode

    def _take_end(self) -> None:
        with self._turn:
            if self.returncode is None:
                code, seconds = os.read(self._ended, 64).split()
                self._close_ended()
                self.returncode = int(code)
                SPENT.append(float(seconds))

    def kill(self) -> None:
        """End it by force."""
        self._send(signal.SIGKILL)

    def terminate(self) -> None:
        """Ask it to end."""
        self._send(signal.SIGTERM)

    def _send(self, number: signal.Signals) -> None:
        if self.returncode is None:
            with contextlib.suppress(ProcessLookupError):  # the server has seen its end already
                os.kill(self.pid, number)


SPENT: list[float] = []
"""The CPU seconds of each child that was waited for; the system counts them as the server's."""


class Warm:
    """The server of this process, started when the first child is."""

    def __init__(self) -> None:
        self._environment = process.own_environment()
        self._limits = _limits()
        self._turn = threading.Lock()
        self._server: subprocess.Popen[bytes] | None = None
        self._requests, self._theirs = socket.socketpair(type=socket.SOCK_SEQPACKET)

    def _start(self) -> None:
        number = self._theirs.fileno()
        self._server = subprocess.Popen(
            [sys.executable, "-P", str(Path(warm_server.__file__)), str(number)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[number],
            env=self._environment,
        )
        self._theirs.close()
        atexit.register(self._close)

    def can_be(self, command: Sequence[str], environment: Mapping[str, str]) -> bool:
        """Whether a child of the server is what this command would be here and now."""
        return (
            command[0] == sys.executable
            and "-m" in command
            and command[command.index("-m") + 1] in warm_server.ENTRIES
            and _of_python(environment) == _of_python(self._environment)
            and _limits() == self._limits
        )

    def start(
        self, command: Sequence[str], log: Any, environment: Mapping[str, str], *, session: bool
    ) -> WarmProcess:
        """A child that runs the program of a ``python -m`` command line."""
        at = command.index("-m") + 1
        (their_in, stdin), (stdout, their_out), (ended, tell) = (os.pipe() for _ in range(3))
        request = {
            "module": command[at],
            "arguments": command[at + 1 :],
            "quiet": "-W" in command,
            "folder": str(Path.cwd()),
            "environment": dict(environment),
            "new_session": session,
        }
        theirs = [their_in, their_out, log.fileno(), tell]
        with self._turn:
            if self._server is None:
                self._start()
            socket.send_fds(self._requests, [json.dumps(request).encode()], theirs)
            pid = int(self._requests.recv(64))
        for descriptor in (their_in, their_out, tell):
            os.close(descriptor)
        return WarmProcess(pid, stdin, stdout, ended)

    def _close(self) -> None:
        """End the server; children that still run are ended by the end of their input."""
        assert self._server is not None
        self._requests.close()
        self._server.wait()


def _of_python(environment: Mapping[str, str]) -> dict[str, str]:
    own = ("PYTHON", "OPENBLAS", "LD_")
    return {name: value for name, value in environment.items() if name.startswith(own)}


def _limits() -> list[tuple[int, int]]:
    return [resource.getrlimit(each) for each in _LIMITS]


class WarmSubprocess:
    """The module ``subprocess`` for ``base.process``, whose Popen forks where it may."""

    def __init__(self) -> None:
        self._warm = Warm()

    def __getattr__(self, name: str) -> Any:
        return getattr(subprocess, name)

    def Popen(self, command: Sequence[str], **options: Any) -> subprocess.Popen[bytes]:  # noqa: N802
        """A process; a test that forbids processes by a changed Popen forbids these, too."""
        environment = options.get("env")
        if subprocess.Popen.__init__ is not _INIT or environment is None or "cwd" in options:
            return subprocess.Popen(command, **options)
        if not self._warm.can_be(command, environment):
            return subprocess.Popen(command, **options)
        session = bool(options["start_new_session"])
        child = self._warm.start(command, options["stderr"], environment, session=session)
        return cast("subprocess.Popen[bytes]", child)


def keep_children_warm() -> None:
    """From now on the children of this process are forked where that makes no difference."""
    if sys.platform == "linux" and COLD not in os.environ:
        setattr(process, "subprocess", WarmSubprocess())  # noqa: B010
