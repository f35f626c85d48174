"""Child processes: the one place that starts and ends them, and tells how they ended."""

from __future__ import annotations

import contextlib
import logging
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, BinaryIO, cast

from pytest_autodeploy.base import trace

LOG = logging.getLogger(__name__)

CRASHES = frozenset({"SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGTRAP", "SIGSYS"})
"""Signals that a program brings upon itself; any other was sent from outside."""

END_TIMEOUT_S = 5.0
"""For the system to take a killed process away; one that waits for a device can take longer."""

_OWN_GROUP = os.name == "posix"
_SET_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of Linux
_LOOK_S = 0.1
"""Between two looks at whether a program is still wanted."""

_CHATTER = ("INFO:", "WARNING:")
_LONGEST_WORDS = 300


@dataclass(frozen=True)
class End:
    """How a process ended; ``code`` is minus the signal that it died of, None: its time was up."""

    code: int | None

    @property
    def signal(self) -> str:
        """The name of the signal that it died of, empty when it was none."""
        if self.code is None or self.code >= 0:
            return ""
        try:
            return signal.Signals(-self.code).name
        except ValueError:
            return f"signal {-self.code}"

    @property
    def crashed(self) -> bool:
        """Whether it ended by its own doing and was not killed by another process."""
        return self.signal in CRASHES if self.signal else self.code is not None

    @property
    def how(self) -> str:
        """The end as a message says it, such as ``exited with code 1``."""
        if self.code is None:
            return "did not finish"
        return f"died of {self.signal}" if self.signal else f"exited with code {self.code}"


@dataclass(frozen=True)
class Finished(End):
    """The end of a program and all that it wrote; ``errors`` only when they were kept apart."""

    output: str
    errors: str = ""


def run_tool(
    command: Sequence[str],
    *,
    timeout_s: float,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    apart: bool = False,
    abandoned: Callable[[], bool] | None = None,
) -> Finished:
    """Run a program in ``folder`` without input; end it and its children when its time is up.

    What it writes to standard error is part of the output, or kept ``apart``. ``abandoned`` is
    asked now and then whether nobody wants the result any more: that is its end, too. Raises
    OSError when it cannot be started.
    """
    LOG.debug("run %s, for %g s at most", _shown(command), timeout_s)
    with contextlib.ExitStack() as stack:  # pipes would wait for children that outlive it
        stack.enter_context(trace.span(_program(command)))
        output = stack.enter_context(tempfile.TemporaryFile())
        errors = stack.enter_context(tempfile.TemporaryFile()) if apart else None
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors or subprocess.STDOUT,
            start_new_session=_OWN_GROUP,
        )
        code: int | None = None
        try:
            with contextlib.suppress(subprocess.TimeoutExpired):
                code = _wait(process, timeout_s, abandoned)
                if _OWN_GROUP:
                    _sweep(process)
        finally:
            _kill(process, group=_OWN_GROUP)
        LOG.debug("%s ended with %s", _shown(command[:1]), code)
        return Finished(code, _text(output), _text(errors) if errors else "")


def _wait(
    process: subprocess.Popen[bytes], timeout_s: float, abandoned: Callable[[], bool] | None
) -> int:
    """Its exit code. Raises TimeoutExpired."""
    until = time.monotonic() + timeout_s
    while abandoned is not None and not abandoned() and time.monotonic() < until - _LOOK_S:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(_LOOK_S)
    gone = abandoned is not None and abandoned()
    return process.wait(0 if gone else max(0.0, until - time.monotonic()))


def own_environment(**more: str) -> dict[str, str]:
    """The environment of a Python program of ours, with ``more`` variables.

    NumPy's OpenBLAS starts a thread per core when it is imported and ends them when the process
    ends. That takes 0.15 s of CPU (NumPy 2.2 on two cores), and no program of ours multiplies
    matrices. What the user has set stays.
    """
    return {"OPENBLAS_NUM_THREADS": "1", **os.environ, **more}


class Child:
    """A program that this process talks to; what it writes to standard error goes to a log.

    It ends with ``close``, with this object, and with this process if it heeds the end of its
    standard input. In its ``own_group`` it does not get the Ctrl-C of this process's terminal,
    and what it started ends with it. One that ``outlives`` this process has work to do when its
    input ends, and ends by itself; only ``kill`` and ``stop`` end it earlier.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        log: Path | None = None,
        own_group: bool,
        outlives: bool = False,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._path = log
        self._log = open(log, "wb") if log else tempfile.TemporaryFile()  # noqa: SIM115, PTH123
        group = own_group and _OWN_GROUP
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                start_new_session=group,
                env={**(environment or own_environment()), **trace.of_child()},
            )
        except BaseException:
            self._log.close()
            raise
        LOG.debug("started %s as process %d", _shown(command), self._process.pid)
        self._group = group
        self.stdin = cast("BinaryIO", self._process.stdin)
        self.stdout = cast("BinaryIO", self._process.stdout)
        streams = (self.stdin, self.stdout, self._log)
        end = _leave if outlives else _end
        self._end = weakref.finalize(self, end, self._process, streams, group=group)

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    def end(self, wait_s: float) -> End | None:
        """How it ended; None when it still runs after ``wait_s``."""
        reaped = self._process.returncode is not None
        try:
            code = self._process.wait(wait_s)
        except subprocess.TimeoutExpired:
            return None
        if self._group and not reaped:
            _sweep(self._process)
        return End(code)

    def last_line(self) -> str:
        """The last line of the log that is more than chatter."""
        try:
            text = self._path.read_text("utf-8", "replace") if self._path else _text(self._log)
        except (OSError, ValueError):  # the log is gone, or closed
            return ""
        telling = [line.strip() for line in text.splitlines() if not line.startswith(_CHATTER)]
        return next((line[:_LONGEST_WORDS] for line in reversed(telling) if line), "")

    def ending(self, end: End) -> str:
        """How it ended, with the last line of its output."""
        text = self.last_line()
        return f"{end.how}; the last line of its output: {text}" if text else end.how

    def stop(self, timeout_s: float) -> None:
        """Ask it to end, by the end of its input and by SIGTERM; then end it by force."""
        if not self.stdin.closed:
            with contextlib.suppress(OSError):  # it is dead already
                self.stdin.close()
        if self.end(0) is None:
            self._process.terminate()
            if self.end(timeout_s) is None:
                self.kill()

    def kill(self) -> None:
        """End it, and what it started in its own group. Idempotent."""
        _kill(self._process, group=self._group)

    def close(self) -> None:
        """End it and close its streams. Idempotent."""
        self._end()


def start_bound(command: Sequence[str], descriptors: Sequence[int]) -> subprocess.Popen[bytes]:
    """Start a program that on Linux is killed when this process ends, however that ends.

    It gets these file descriptors and no input; its standard error is a pipe.
    """
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        pass_fds=descriptors,
        preexec_fn=_death_signal(),
    )


def _death_signal() -> Callable[[], None] | None:
    if sys.platform != "linux":
        return None
    import ctypes

    prctl = ctypes.CDLL(None).prctl

    def die_with_parent() -> None:
        prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)

    return die_with_parent


def _leave(process: subprocess.Popen[bytes], streams: Sequence[IO[bytes]], *, group: bool) -> None:
    """Let a process work on, whose end nobody waits for; Popen would warn of it."""
    if group and process.poll() is None:
        process.returncode = 0
    _close(streams)


def _end(process: subprocess.Popen[bytes], streams: Sequence[IO[bytes]], *, group: bool) -> None:
    _kill(process, group=group)
    _close(streams)


def _close(streams: Sequence[IO[bytes]]) -> None:
    for stream in streams:
        with contextlib.suppress(OSError):  # what could not be written any more
            stream.close()


def _kill(process: subprocess.Popen[bytes], *, group: bool) -> None:
    """End a process that was not seen to end yet; after that its id may be another's."""
    if process.returncode is not None:
        return
    if group:
        _sweep(process)
    else:
        process.kill()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(END_TIMEOUT_S)


def _sweep(process: subprocess.Popen[bytes]) -> None:
    """Kill the group of a process that runs, or that ended just now: nothing else has its id."""
    with contextlib.suppress(ProcessLookupError, PermissionError):  # they all have ended
        os.killpg(process.pid, signal.SIGKILL)


def _program(command: Sequence[object]) -> str:
    return os.path.basename(str(command[0]))  # noqa: PTH119  # without a Path for each


def _shown(command: Sequence[object]) -> str:
    return shlex.join(map(str, command))


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")
