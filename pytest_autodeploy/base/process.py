"""A program of somebody else's, run to its end: its deadline, its output and nothing left of it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Finished:
    """How a program ended: its exit code, None when its time was up, and all that it wrote."""

    code: int | None
    output: str

    @property
    def how(self) -> str:
        """The end as a message says it, such as ``exited with code 1``."""
        if self.code is None:
            return "did not finish"
        if self.code < 0:
            return f"died of {_signal_name(-self.code)}"
        return f"exited with code {self.code}"


def run_tool(
    command: Sequence[str],
    *,
    timeout_s: float,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Finished:
    """Run a program in ``folder`` without input; end it and its children when its time is up.

    Raises OSError when it cannot be started.
    """
    with tempfile.TemporaryFile() as output:  # a pipe would wait for children that outlive it
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=os.name == "posix",
        )
        code: int | None = None
        try:
            with contextlib.suppress(subprocess.TimeoutExpired):
                code = process.wait(timeout_s)
        finally:
            _end(process)
        output.seek(0)
        return Finished(code, output.read().decode(errors="replace"))


def _end(process: subprocess.Popen[bytes]) -> None:
    if os.name == "posix":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
