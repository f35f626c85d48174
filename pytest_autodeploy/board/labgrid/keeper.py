"""The process that holds a run's place: it outlives a run that is killed, and gives all back.

    python -m pytest_autodeploy.board.labgrid.keeper PROGRAM HOST USER

It runs labgrid-client for the run: a JSON line on standard input is a command, its end a JSON line
on standard output. When its input ends, which it does however the run ends, it gives back what the
owner HOST/USER has, unless the run said that nothing is left.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress

from pytest_autodeploy.base.errors import AutodeployError
from pytest_autodeploy.board.labgrid.client import Here, LabError, LabgridClient
from pytest_autodeploy.board.labgrid.owner import Owner
from pytest_autodeploy.board.labgrid.returning import give_back

GIVE_UP_S = 300.0
"""After so long without a coordinator a place cannot be given back; a later run on this PC does."""

PAUSE_S = 5.0
"""Between two tries to give back."""

DONE = "done"
"""The message that nothing is left to give back."""


class Input:
    """The lines of standard input, from a thread; ``ended`` when there will be no more."""

    def __init__(self) -> None:
        self.lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self.ended = threading.Event()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        rest = b""
        # Not sys.stdin: Python aborts when it ends while a thread is in a read of that.
        while data := os.read(0, 65536):
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                self.lines.put(line)
        self.ended.set()
        self.lines.put(b"")


def main(program: str, host: str, user: str) -> int:
    """Serve a run until it ends; then give back what it has. The exit code: 1 when that failed."""
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)  # the run gets them too, and says what to do
    owner = Owner(host, user)
    with ExitStack() as stack:
        with suppress(AutodeployError):  # without it no later run gives back; this one still does
            stack.callback(owner.sign("keeper").release)
        if _serve(Input()):
            owner.forget()
            return 0
        return _give_back(program, owner)


def _serve(given: Input) -> bool:
    """Run commands; True when the run has given everything back by itself."""
    runner = Here(abandoned=given.ended.is_set)
    while line := given.lines.get():
        message = json.loads(line)
        if message == DONE:
            return True
        reply = _run(runner, message["command"], message["timeout_s"], message["abandonable"])
        with suppress(OSError):  # the run died meanwhile
            _write(f"{json.dumps(reply)}\n".encode())
    return False


def _write(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


def _run(runner: Here, command: Sequence[str], timeout_s: float, abandonable: bool) -> object:
    try:
        done = runner(command, timeout_s, abandonable=abandonable)
    except OSError as error:
        return {"why": error.strerror or str(error)}
    return {"code": done.code, "output": done.output, "errors": done.errors}


def _give_back(program: str, owner: Owner) -> int:
    until = time.monotonic() + GIVE_UP_S
    while True:
        try:
            give_back(LabgridClient(program, str(owner), Here()), str(owner))
        except LabError as error:
            if time.monotonic() >= until:
                sys.stderr.write(f"{error}\n")
                return 1
            time.sleep(PAUSE_S)
            continue
        owner.forget()
        return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
