"""A lab of places without labgrid: a program in its client's place, and what it was asked for."""

from __future__ import annotations

import fcntl
import json
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.helpers import fake_labgrid_client

_PATIENCE_S = 30.0


class FakeLab:
    """The lab in a folder; ``client`` is the program."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        script = folder / "client.py"
        shutil.copy(Path(fake_labgrid_client.__file__), script)
        self.client = folder / "labgrid-client"
        self.client.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S "{script}" "$@"\n')
        self.client.chmod(0o755)
        self._file = folder / "lab.json"
        empty: dict[str, Any] = {"places": {}, "reservations": {}, "broken": {}, "once": {}}
        self._file.write_text(
            json.dumps({**empty, "log": [], "acquired": [], "power": [], "on_power": ""})
        )

    def place(
        self, name: str, *resources: dict[str, Any], tags: str = "board=apollo4p_evb", **more: Any
    ) -> None:
        """Add a place; ``tags`` are KEY=VALUE with blanks between."""
        place = {
            "tags": dict(tag.split("=") for tag in tags.split()),
            "resources": [{"extra": {}, **resource} for resource in resources],
            "acquired": None,
            "reservation": None,
            "aliases": [],
            "comment": "",
        }
        self.change(lambda lab: lab["places"].update({name: place | more}))

    def change(self, how: Callable[[dict[str, Any]], object]) -> None:
        """Change the lab as its client does."""
        with self._file.open("r+", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            lab = json.load(file)
            how(lab)
            file.seek(0)
            file.truncate()
            json.dump(lab, file)

    def breaks(self, command: str, how: str) -> None:
        """From now on a command, or ``all``, fails that way."""
        self.change(lambda lab: lab["broken"].update({command: how}))

    def mends(self) -> None:
        """From now on nothing fails."""
        self.change(lambda lab: lab["broken"].clear())

    @property
    def state(self) -> dict[str, Any]:
        """The lab as it is."""
        found: list[dict[str, Any]] = []
        self.change(found.append)
        return found[0]

    @property
    def commands(self) -> list[str]:
        """The commands that were given, in their order."""
        return [words[2] for words in self.state["log"]]

    def owner(self, place: str) -> str | None:
        """Who has a place."""
        owner: str | None = self.state["places"][place]["acquired"]
        return owner

    def is_free(self) -> bool:
        """Whether nobody has anything, and nobody is in line."""
        state = self.state
        owners = [place["acquired"] for place in state["places"].values()]
        return not any(owners) and not state["reservations"]

    def becomes(self, condition: Callable[[], object]) -> bool:
        """Whether something becomes true soon."""
        until = time.monotonic() + _PATIENCE_S
        while time.monotonic() < until:
            if condition():
                return True
            time.sleep(0.02)
        return False


def raw_port(number: int | None = 17001, **more: Any) -> dict[str, Any]:
    """A serial port as an exporter offers it: TCP without a protocol."""
    params = {"host": "127.0.0.1", "port": number, "protocol": "raw", "speed": 115200}
    return {"cls": "NetworkSerialPort", "params": params, **more}


def power_port() -> dict[str, Any]:
    """A port that switches a board's power."""
    params = {"model": "rest", "host": "http://127.0.0.1/{index}", "index": "1"}
    return {"cls": "NetworkPowerPort", "params": params}
