"""The worker's process as its parent sees it: exchanges with a deadline, death, and last words."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO, BinaryIO, cast

from pytest_autodeploy.reference.messages import Message, read_message, write_message

_PROGRAM = "pytest_autodeploy.reference.worker"

CRASHES = frozenset({"SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGTRAP", "SIGSYS"})
"""Signals that a program brings upon itself; any other was sent from outside."""


class ChildTimeoutError(Exception):
    """The child did not answer in time; it has been killed."""


class ChildDiedError(Exception):
    """The child died; the text says how. ``crashed``: by its own doing."""

    def __init__(self, how: str, *, crashed: bool) -> None:
        super().__init__(how)
        self.crashed = crashed


class Child:
    """A running worker. It ends with ``close``, with this object, or with this process."""

    def __init__(self) -> None:
        stderr = tempfile.TemporaryFile()  # noqa: SIM115 (closed by _end)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-W", "ignore", "-m", _PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
        )
        self._stdin = cast("BinaryIO", self._process.stdin)
        self._stdout = cast("BinaryIO", self._process.stdout)
        self._stderr = stderr
        self._posting: threading.Thread | None = None
        self._end = weakref.finalize(self, _end, self._process, (self._stdin, self._stdout, stderr))

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    def post(self, messages: Sequence[Message]) -> None:
        """Send messages without waiting until the child takes them."""
        self._posting = threading.Thread(
            target=_write_all, args=(self._stdin, messages), daemon=True
        )
        self._posting.start()

    def send(self, message: Message, timeout_s: float) -> None:
        """Send one message. Raises ChildTimeoutError or ChildDiedError."""
        with self._deadline(timeout_s):
            if self._posting is not None:
                self._posting.join()
            write_message(self._stdin, *message)

    def receive(self, timeout_s: float) -> Message:
        """The next reply. Raises ChildTimeoutError or ChildDiedError."""
        with self._deadline(timeout_s):
            return read_message(self._stdout)

    def close(self) -> None:
        """Kill the child. Idempotent."""
        self._end()

    @contextmanager
    def _deadline(self, timeout_s: float) -> Iterator[None]:
        expired = threading.Event()

        def expire() -> None:
            expired.set()
            self._process.kill()

        timer = threading.Timer(max(timeout_s, 0), expire)
        timer.daemon = True
        timer.start()
        try:
            yield
        except (OSError, EOFError):
            if not expired.is_set():
                raise self._death() from None
        finally:
            timer.cancel()
        if expired.is_set():
            raise ChildTimeoutError

    def _death(self) -> ChildDiedError:
        try:
            code = self._process.wait(5)
        except subprocess.TimeoutExpired:
            return ChildDiedError("closed its pipe", crashed=True)
        name = _signal_name(-code)
        how = f"died of {name}" if code < 0 else f"exited with code {code}"
        words = self._last_words()
        return ChildDiedError(
            f"{how}; its last words: {words}" if words else how,
            crashed=code >= 0 or name in CRASHES,
        )

    def _last_words(self) -> str:
        """The last line on standard error that is more than chatter."""
        self._stderr.seek(0)
        lines = self._stderr.read().decode(errors="replace").splitlines()
        telling = [line.strip() for line in lines if not line.startswith(("INFO:", "WARNING:"))]
        return next((line[:300] for line in reversed(telling) if line), "")


def _write_all(stream: BinaryIO, messages: Sequence[Message]) -> None:
    with suppress(OSError, ValueError):  # a dead child shows in the next exchange
        for message in messages:
            write_message(stream, *message)


def _end(process: subprocess.Popen[bytes], streams: Sequence[IO[bytes]]) -> None:
    process.kill()
    process.wait()
    for stream in streams:
        with suppress(OSError):  # what could not be written any more
            stream.close()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
