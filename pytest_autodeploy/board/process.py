"""A child process that is driven by JSON lines: its deadline, its death and its last line."""

from __future__ import annotations

import json
import queue
import sys
import threading
import time
from pathlib import Path
from typing import Any

from pytest_autodeploy.base.errors import BoardDied, BoardTimeout
from pytest_autodeploy.base.exhausted import advice_on
from pytest_autodeploy.base.process import Child
from pytest_autodeploy.base.progress import show_task

_PATIENCE_S = 2.0


class ControlledProcess:
    """A Python module run as a child; ``name`` stands in errors, ``log`` collects its stderr.

    The child ends when its standard input closes, so it never outlives this process.
    """

    def __init__(self, name: str, module: str, arguments: list[str], log: Path) -> None:
        self._name = name
        # -P: else a user's json.py in the start folder would be imported in place of Python's.
        command = [sys.executable, "-P", "-m", module, *arguments]
        self._child = Child(command, log=log, own_group=True)
        self._replies: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        """Process id of the child."""
        return self._child.pid

    def _read(self) -> None:
        for line in self._child.stdout:
            self._replies.put(line)
        self._replies.put(b"")

    def reply(self, what: str, timeout_s: float) -> dict[str, Any]:
        """The next JSON line of the child. Raises BoardTimeout or BoardDied naming ``what``."""
        began = time.monotonic()
        try:
            with show_task(f"waiting for {self._name}: {what}"):
                line = self._replies.get(timeout=timeout_s)
        except queue.Empty:
            raise BoardTimeout(
                f"{what}: no answer",
                board=self._name,
                seconds=timeout_s,
                hint="this PC may be busy with other work: run it again",
            ) from None
        if not line:
            raise self._died(what, time.monotonic() - began)
        reply: dict[str, Any] = json.loads(line)
        return reply

    def request(self, what: str, message: dict[str, Any], timeout_s: float) -> dict[str, Any]:
        """Send a JSON line and return the answer."""
        try:
            self._child.stdin.write(json.dumps(message).encode() + b"\n")
            self._child.stdin.flush()
        except OSError:
            raise self._died(what, 0.0) from None
        return self.reply(what, timeout_s)

    def _died(self, what: str, seconds: float) -> BoardDied:
        text = self.death() or "its process does not answer"
        hint = self.advice()
        return BoardDied(f"{what}: {text}", board=self._name, seconds=seconds, hint=hint)

    def death(self, wait_s: float = 1.0) -> str | None:
        """How the child ended, and its last line; None when it still runs after ``wait_s``."""
        end = self._child.end(wait_s)
        return None if end is None else f"its process {self._child.ending(end)}"

    def advice(self) -> str | None:
        """What its death means when another process killed it, or this PC ran out of something."""
        end = self._child.end(0)
        if end is None or end.crashed:
            return advice_on(self.last_line())
        return "it was killed from outside; is the memory of this PC full?"

    def last_line(self) -> str:
        """The last line that the child wrote to its log."""
        return self._child.last_line()

    def close(self) -> None:
        """End the child: politely, then by force. Idempotent."""
        self._child.stop(_PATIENCE_S)
        self._reader.join(_PATIENCE_S)
        if not self._reader.is_alive():
            self._child.close()
