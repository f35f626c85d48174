"""The program behind ``warm_children``: it has imported what children import, and forks them.

A request is a message of JSON with the file descriptors of the child's standard input, output and
error, and of a pipe that gets its exit code and CPU seconds when it has ended.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pytest_autodeploy.base.imports import leave_out_compression

ENTRIES = {
    "pytest_autodeploy.sim": "pytest_autodeploy.sim.__main__",
    "pytest_autodeploy.reference.worker": "pytest_autodeploy.reference.worker",
    "pytest_autodeploy.diagnosis.sensitivity.worker": (
        "pytest_autodeploy.diagnosis.sensitivity.worker"
    ),
}
"""By what stands behind ``python -m``: the module with its ``main``."""

_ALSO = ("numpy", "tflite_micro.python.tflite_micro.runtime", "ai_edge_litert.interpreter")
_DESCRIPTORS = 4
_REQUEST_BYTES = 1 << 20


@dataclass
class Server:
    """Forks children on request, and tells how they ended."""

    requests: socket.socket
    woken: int
    """A pipe that is readable when a child has ended."""
    ended: dict[int, int] = field(default_factory=dict)
    """By process id, the pipe that waits for its end."""

    def run(self) -> Callable[[], Any] | None:
        """Serve until the socket closes; in a child, give what it has to do."""
        while True:
            ready, _, _ = select.select([self.requests.fileno(), self.woken], [], [])
            if self.woken in ready:
                os.read(self.woken, _REQUEST_BYTES)
                self._tell_ends()
            if self.requests.fileno() in ready:
                line, given, _, _ = socket.recv_fds(self.requests, _REQUEST_BYTES, _DESCRIPTORS)
                if not line:
                    return None
                if (task := self._fork(json.loads(line), given)) is not None:
                    return task

    def _fork(self, request: dict[str, Any], given: list[int]) -> Callable[[], Any] | None:
        child = os.fork()
        if child == 0:
            os.close(signal.set_wakeup_fd(-1))
            for pipe in (self.woken, *self.ended.values()):
                os.close(pipe)
            self.requests.close()
            return lambda: _become(request, given)
        *streams, pipe = given
        for stream in streams:
            os.close(stream)
        self.ended[child] = pipe
        self.requests.sendall(f"{child}\n".encode())
        return None

    def _tell_ends(self) -> None:
        while self.ended:
            child, status, used = os.wait4(-1, os.WNOHANG)
            if child == 0:
                return
            pipe = self.ended.pop(child)
            seconds = used.ru_utime + used.ru_stime
            with contextlib.suppress(BrokenPipeError):  # nobody waits for it any more
                os.write(pipe, f"{os.waitstatus_to_exitcode(status)} {seconds}".encode())
            os.close(pipe)


def _become(request: dict[str, Any], given: list[int]) -> Any:
    """Be the program that was asked for, as if Python had just started."""
    *streams, pipe = given
    os.close(pipe)
    if request["new_session"]:
        os.setsid()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    tempfile.tempdir = None
    if request["quiet"]:
        warnings.simplefilter("ignore")
    module = importlib.import_module(ENTRIES[request["module"]])
    sys.argv = [str(module.__file__), *request["arguments"]]
    return module.main()


def _warm_up() -> None:
    leave_out_compression()
    for name in (*ENTRIES.values(), *_ALSO):
        with contextlib.suppress(ImportError):  # a child says what it lacks
            importlib.import_module(name)
    gc.freeze()


def main() -> Any:
    """Serve; the exit code of a child is that of its program."""
    _warm_up()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    woken, wakes = os.pipe()
    os.set_blocking(wakes, False)
    signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
    task = Server(socket.socket(fileno=int(sys.argv[1])), woken).run()
    return task() if task else 0


if __name__ == "__main__":
    sys.exit(main())
