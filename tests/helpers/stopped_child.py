"""The PC reference's process, stopped, so that a signal meets it in the middle of a run."""

from __future__ import annotations

import os
import signal
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pytest_autodeploy.reference.runner import Reference


def pid_of(reference: Reference) -> int:
    """Process id of the child of a reference that was started."""
    pid = reference._process.pid
    assert pid is not None
    return pid


def stop(reference: Reference) -> int:
    """Stop the child of a reference, wait until it has stopped, and give its process id."""
    pid = pid_of(reference)
    os.kill(pid, signal.SIGSTOP)
    state = Path(f"/proc/{pid}/stat")
    if not state.is_file():
        os.waitid(os.P_PID, pid, os.WSTOPPED | os.WNOWAIT)
    while state.is_file() and state.read_text(encoding="utf-8").rpartition(") ")[2][0] != "T":
        time.sleep(0.01)  # a forked child is not this process's to wait for
    return pid


@contextmanager
def once_asked(reference: Reference, pid: int, *signals: signal.Signals) -> Iterator[None]:
    """Send signals to a process once the child, which is stopped, has a request to read."""
    import fcntl
    import termios

    child = reference._process._child
    assert child is not None
    request = child._process.stdin.fileno()

    def send() -> None:
        while not struct.unpack("i", fcntl.ioctl(request, termios.FIONREAD, bytes(4)))[0]:
            time.sleep(0.01)
        for number in signals:
            os.kill(pid, number)

    sender = threading.Thread(target=send, daemon=True)
    sender.start()
    yield
    sender.join()
