"""What each process of a run does, and when: spans in the trace event format of Chrome.

``begin`` starts it in the first process; its children learn of it by a variable of the
environment. Each process writes every span to a file of its own the moment that it ends, so that
one that is killed loses only what it was doing. ``collect`` makes one document of all files, which
https://ui.perfetto.dev and chrome://tracing show. The format: "Trace Event Format", by Google.

Nothing is written, and next to nothing is done, in a process that is not traced.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

FOLDER = "AUTODEPLOY_TRACE_FOLDER"
"""In the environment of a traced process: where its file goes."""

SPAWNED = "AUTODEPLOY_TRACE_SPAWNED"
"""In that of a child of ours: when it was started, in nanoseconds of `time.monotonic_ns`."""

_SUFFIX = ".trace"
_NOTHING: AbstractContextManager[None] = nullcontext()


class _File:
    """The file of one process: a line of JSON for each event, in one write each."""

    def __init__(self, folder: Path, name: str) -> None:
        self.pid = os.getpid()
        self.name = name
        self._file = (folder / f"{self.pid}-{time.monotonic_ns()}{_SUFFIX}").open("ab", buffering=0)
        self.event("M", "process_name", args={"name": name})

    def event(self, phase: str, name: str, **more: Any) -> None:
        import json

        event = {"ph": phase, "name": name, "pid": self.pid, "tid": threading.get_native_id()}
        with suppress(OSError):  # a full disk must not end the run: the trace is shorter then
            self._file.write(json.dumps({**event, **more}).encode() + b"\n")

    def span(self, name: str, began_ns: int, ended_ns: int, details: dict[str, Any]) -> None:
        times = {"ts": began_ns / 1e3, "dur": (ended_ns - began_ns) / 1e3}
        self.event("X", name, **times, **({"args": details} if details else {}))

    def close(self) -> None:
        self._file.close()


_file: _File | None = None


def tracing() -> bool:
    """Whether this process is traced."""
    return _file is not None


def span(name: str, **details: Any) -> AbstractContextManager[None]:
    """Trace what is done in the context, under a plain name, such as ``build`` or ``invoke``."""
    return _NOTHING if _file is None else _traced(name, details)


@contextmanager
def _traced(name: str, details: dict[str, Any]) -> Iterator[None]:
    began = time.monotonic_ns()
    try:
        yield
    finally:
        since(name, began, **details)


def since(name: str, began_ns: int, **details: Any) -> None:
    """Trace what has begun at ``began_ns`` of `time.monotonic_ns` and is over now."""
    file = _here()
    if file is not None:
        file.span(name, began_ns, time.monotonic_ns(), details)


def begin(folder: Path, name: str) -> None:
    """Trace this process and the children that it starts from now on."""
    global _file
    os.environ[FOLDER] = str(folder)
    _file = _File(folder, name)


def join(name: str) -> None:
    """Trace this process when the one that has started it is traced."""
    global _file
    if FOLDER not in os.environ:
        return
    with suppress(OSError):  # the folder is gone: the run that began it has ended
        _file = _File(Path(os.environ[FOLDER]), name)
        if spawned := os.environ.pop(SPAWNED, ""):
            since("start the process", int(spawned))


def end() -> None:
    """Trace no more; children do not either."""
    global _file
    if _file is not None:
        _file.close()
        _file = None
    os.environ.pop(FOLDER, None)


def of_child() -> dict[str, str]:
    """What goes into the environment of a child of ours: nothing when this is not traced."""
    return {} if _file is None else {SPAWNED: str(time.monotonic_ns())}


def _here() -> _File | None:
    """The file of this process; a forked child of one that is traced gets its own."""
    global _file
    if _file is not None and _file.pid != os.getpid():
        name = f"{_file.name.removesuffix(_FORK)}{_FORK}"
        _file = None
        with suppress(OSError):
            _file = _File(Path(os.environ[FOLDER]), name)
    return _file


_FORK = ", a fork"


def process_start_ns() -> int:
    """When this process was started, on the clock of `time.monotonic_ns`; now if nobody knows."""
    now = time.monotonic_ns()
    try:
        text = Path("/proc/self/stat").read_text(encoding="ascii", errors="replace")
        ticks = int(text.rpartition(")")[2].split()[19])  # field 22: since the system booted
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):  # not Linux
        return now
    return now - int(1e9 * age)


def collect(folder: Path) -> dict[str, Any]:
    """The document of all processes that were traced into ``folder``; times begin with 0."""
    events = [event for file in sorted(folder.glob(f"*{_SUFFIX}")) for event in _events(file)]
    start = min((event["ts"] for event in events if "ts" in event), default=0.0)
    for event in events:
        if "ts" in event:
            event["ts"] = round(event["ts"] - start, 3)
            event["dur"] = round(event["dur"], 3)
    return {"traceEvents": events, "displayTimeUnit": "ms"}


def _events(file: Path) -> Iterator[dict[str, Any]]:
    import json

    for line in file.read_bytes().splitlines():
        with suppress(ValueError):  # the last line of a process that was killed
            yield json.loads(line)
