"""labgrid's own coordinator, exporter and client on the loopback, from an environment of their own.

labgrid's fork of pyserial overwrites pyserial, so that it is installed into an environment of its
own, ``build/labgrid-VERSION``; ``AUTODEPLOY_LABGRID=DIR`` is one that is there already.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.helpers.once import made_once
from tests.helpers.support import ROOT

VERSION = "26.0.1"
PATIENCE_S = 120.0


class NoLabgrid(Exception):
    """labgrid cannot be installed here."""


def environment() -> Path:
    """The folder of labgrid's programs; installed when it is not there. Raises NoLabgrid."""
    given = os.environ.get("AUTODEPLOY_LABGRID")
    if given:
        return Path(given) / "bin"
    folder = ROOT / "build"
    folder.mkdir(exist_ok=True)
    return made_once(folder, f"labgrid-{VERSION}", _install) / "lab" / "bin"


def _install(folder: Path) -> None:
    """A virtual environment keeps its path, so that it is made where it stays: it is moved whole.

    Its programs are started by its Python, which finds itself.
    """
    python = folder / "lab" / "bin" / "python"
    kept = {key: value for key, value in os.environ.items() if key != "PIP_CONSTRAINT"}
    for command in (
        [sys.executable, "-m", "venv", "--clear", str(folder / "lab")],
        [str(python), "-m", "pip", "install", "--quiet", f"labgrid=={VERSION}"],
    ):
        done = subprocess.run(command, env=kept, capture_output=True, text=True, check=False)
        if done.returncode:
            raise NoLabgrid(f"{' '.join(command[-2:])}: {done.stderr.strip()[-500:]}")
    for program in ("client", "coordinator", "exporter"):
        _rewrite(folder / "lab" / "bin" / f"labgrid-{program}", program)


def _rewrite(path: Path, program: str) -> None:
    """A program that finds its Python beside it, wherever the environment is moved to."""
    call = f"import sys; sys.argv[0] = 'labgrid-{program}'; "
    call += f"from labgrid.remote.{program} import main; main()"
    path.write_text(f'#!/bin/sh\nexec "$(dirname "$0")/python" -c "{call}" "$@"\n')


@dataclass(frozen=True)
class Event:
    """A line of the coordinator, and when it came (``time.monotonic``)."""

    at: float
    line: str


@dataclass
class RealLab:
    """A running lab; ``address`` is the coordinator's, ``client`` the program."""

    address: str
    client: Path
    exporter_pid: int
    coordinator_pid: int
    events: list[Event] = field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        """What lets a run find it."""
        return {"LG_COORDINATOR": self.address}

    def ask(self, *arguments: str) -> str:
        """What labgrid-client prints."""
        done = subprocess.run(
            [str(self.client), *arguments],
            env=os.environ | self.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_S,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def awaited(
        self, has: str, count: int = 1, since: int = 0, patience_s: float = PATIENCE_S
    ) -> Event:
        """The event number ``count`` of those after ``since`` whose line has the text."""
        until = time.monotonic() + patience_s
        while time.monotonic() < until:
            found = [event for event in self.events[since:] if has in event.line]
            if len(found) >= count:
                return found[count - 1]
            time.sleep(0.02)
        lines = "\n".join(event.line for event in self.events[since:])
        raise AssertionError(f"no {has!r} in {patience_s:g} s:\n{lines}")

    def is_free(self) -> bool:
        """Whether nobody has a place, and nobody is in line."""
        who = self.ask("who").splitlines()[1:]
        return not who and not self.ask("reservations").strip()


@contextmanager
def real_lab(
    folder: Path, places: Mapping[str, Mapping[str, Any]], tags: Mapping[str, Mapping[str, str]]
) -> Iterator[RealLab]:
    """A lab with these places: by name the resources that an exporter has there, and the tags."""
    bin_folder = environment()
    folder.mkdir(parents=True, exist_ok=True)
    now = time.time()
    known = {
        name: {
            "aliases": [],
            "comment": "",
            "tags": dict(tags.get(name, {})),
            "matches": [
                {"exporter": "rig", "group": name, "cls": "*", "name": None, "rename": None}
            ],
            "created": now,
            "changed": now,
        }
        for name in places
    }
    # JSON is YAML; the coordinator reads its places at its start.
    (folder / "places.yaml").write_text(json.dumps(known))
    (folder / "exporter.yaml").write_text(json.dumps(places))
    with ExitStack() as stack:
        command = [str(bin_folder / "labgrid-coordinator"), "-l", "127.0.0.1:0"]
        coordinator = _start(stack, folder, command, "coordinator")
        lab = RealLab("", bin_folder / "labgrid-client", 0, coordinator.pid)
        _follow(coordinator, lab.events)
        lab.address = lab.awaited("listening on ").line.rpartition(" ")[2]
        config = str(folder / "exporter.yaml")
        words = ["-c", lab.address, "-n", "rig", "--hostname", "127.0.0.1", config]
        exporter = _start(stack, folder, [str(bin_folder / "labgrid-exporter"), *words], "exporter")
        lab.exporter_pid = exporter.pid
        wanted = {f"rig/{name}" for name in places}
        _until(lambda: wanted <= {line.rpartition("/")[0] for line in lab.ask("resources").split()})
        yield lab


def _start(
    stack: ExitStack, folder: Path, command: Sequence[str], name: str
) -> subprocess.Popen[str]:
    log = stack.enter_context((folder / f"{name}.log").open("w"))
    output = subprocess.PIPE if name == "coordinator" else log
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=log,
        text=True,
    )
    stack.callback(_end, process)
    return process


def _follow(process: subprocess.Popen[str], events: list[Event]) -> None:
    def read() -> None:
        assert process.stdout is not None
        with process.stdout as lines:
            for line in lines:
                events.append(Event(time.monotonic(), line.rstrip()))

    threading.Thread(target=read, daemon=True).start()


def _end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()


def _until(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < until, "the exporter does not come"
        time.sleep(0.2)


def serial_port(url: str, **more: Any) -> dict[str, Any]:
    """Resources of a place: the port of a board at ``socket://HOST:PORT``."""
    host, _, port = url.removeprefix("socket://").rpartition(":")
    return {
        "NetworkSerialPort": {"host": host, "port": int(port), "protocol": "raw", "speed": 115200},
        **more,
    }
