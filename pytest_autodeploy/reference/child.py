"""The worker as its parent sees it: exchanges with a deadline, death, and its last line."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import BinaryIO

from pytest_autodeploy.base import process
from pytest_autodeploy.reference.messages import Message, read_message, write_message

PROGRAM = "pytest_autodeploy.reference.worker"


class ChildTimeoutError(Exception):
    """The child did not answer in time; it has been killed."""


class ChildDiedError(Exception):
    """The child died; the text says how. ``crashed``: by its own doing."""

    def __init__(self, how: str, *, crashed: bool) -> None:
        super().__init__(how)
        self.crashed = crashed


class Child:
    """A running worker. It ends with ``close``, with this object, or with this process."""

    def __init__(self, program: str = PROGRAM) -> None:
        command = [sys.executable, "-P", "-W", "ignore", "-m", program]
        self._process = process.Child(command, own_group=False)
        self._posting: threading.Thread | None = None

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self._process.end(0) is None

    def post(self, messages: Sequence[Message]) -> None:
        """Send messages without waiting until the child takes them."""
        self._posting = threading.Thread(
            target=_write_all, args=(self._process.stdin, messages), daemon=True
        )
        self._posting.start()

    def send(self, message: Message, timeout_s: float) -> None:
        """Send one message. Raises ChildTimeoutError or ChildDiedError."""
        with self._deadline(timeout_s):
            if self._posting is not None:
                self._posting.join()
            write_message(self._process.stdin, *message)

    def receive(self, timeout_s: float) -> Message:
        """The next reply. Raises ChildTimeoutError or ChildDiedError."""
        with self._deadline(timeout_s):
            return read_message(self._process.stdout)

    def close(self) -> None:
        """Kill the child. Idempotent."""
        self._process.close()

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
        end = self._process.end(5)
        if end is None:
            return ChildDiedError("closed its pipe", crashed=True)
        return ChildDiedError(self._process.ending(end), crashed=end.crashed)


def _write_all(stream: BinaryIO, messages: Sequence[Message]) -> None:
    with suppress(OSError, ValueError):  # a dead child shows in the next exchange
        for message in messages:
            write_message(stream, *message)


class Spares:
    """Children that have nothing to do and can take another model.

    To start one, with NumPy and LiteRT, takes 0.2 s of CPU: more than most models need.
    """

    def __init__(self) -> None:
        self._children: list[tuple[str, Child]] = []
        self._turn = threading.Lock()

    def take(self, program: str) -> Child | None:
        """A child that runs ``program``, None when there is none."""
        with self._turn:
            for entry in self._children:
                if entry[0] == program:
                    self._children.remove(entry)
                    break
            else:
                return None
        if entry[1].running:
            return entry[1]
        entry[1].close()
        return None

    def give(self, program: str, child: Child) -> None:
        """Leave a child that owes no reply."""
        with self._turn:
            self._children.append((program, child))

    def close(self) -> None:
        """End them. Idempotent."""
        with self._turn:
            children, self._children = self._children, []
        for _, child in children:
            child.close()
