"""A child process that is driven by JSON lines: its deadline, its death and its last words."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from pytest_autodeploy.base.errors import BoardDied, BoardTimeout


class ControlledProcess:
    """A Python module run as a child; ``name`` stands in errors, ``log`` collects its stderr.

    The child ends when its standard input closes, so it never outlives this process.
    """

    def __init__(self, name: str, module: str, arguments: list[str], log: Path) -> None:
        self._name = name
        self._log = log
        with log.open("wb") as stderr:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", module, *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                start_new_session=os.name == "posix",  # Ctrl-C is for the parent alone
            )
        self._replies: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        """Process id of the child."""
        return self._process.pid

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._replies.put(line)
        self._replies.put(b"")

    def reply(self, what: str, timeout_s: float) -> dict[str, Any]:
        """The next JSON line of the child. Raises BoardTimeout or BoardDied naming ``what``."""
        try:
            line = self._replies.get(timeout=timeout_s)
        except queue.Empty:
            raise BoardTimeout(f"{what}: no answer", board=self._name, seconds=timeout_s) from None
        if not line:
            raise BoardDied(f"{what}: {self.death()}", board=self._name)
        reply: dict[str, Any] = json.loads(line)
        return reply

    def request(self, what: str, message: dict[str, Any], timeout_s: float) -> dict[str, Any]:
        """Send a JSON line and return the answer."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            raise BoardDied(f"{what}: {self.death()}", board=self._name) from None
        return self.reply(what, timeout_s)

    def death(self, wait_s: float = 1.0) -> str | None:
        """How the child ended, with its last words; None when it still runs after ``wait_s``."""
        try:
            code = self._process.wait(wait_s)
        except subprocess.TimeoutExpired:
            return None
        how = f"died of {_signal_name(-code)}" if code < 0 else f"exited with code {code}"
        words = self.last_words()
        return f"its process {how}" + (f"; its last words: {words}" if words else "")

    def last_words(self) -> str:
        """The last line that the child wrote to its log."""
        try:
            lines = self._log.read_text(errors="replace").strip().splitlines()
        except OSError:
            return ""
        return lines[-1][:300] if lines else ""

    def close(self) -> None:
        """End the child: politely, then by force. Idempotent."""
        process = self._process
        if process.stdin and not process.stdin.closed:
            with contextlib.suppress(OSError):  # it is dead already
                process.stdin.close()
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(2.0)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(5.0)
        self._reader.join(2.0)
        if process.stdout and not self._reader.is_alive():
            process.stdout.close()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
