"""labgrid-client as a program: each command with a deadline, and what its errors mean."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from pytest_autodeploy.base.errors import BoardUnavailable
from pytest_autodeploy.base.process import Finished, run_tool
from pytest_autodeploy.board.labgrid.listing import (
    Garbled,
    Place,
    Reservation,
    Resource,
    parse_places,
    parse_reservations,
    parse_resources,
    parse_waited,
)

T = TypeVar("T")

CLIENT = "labgrid-client"
TIMEOUT_S = 30.0
"""Of a command that asks: labgrid-client 26 takes a second, and gives a lost coordinator up within
18 s (its keep-alive)."""

CHANGE_TIMEOUT_S = 60.0
"""Of a command that changes a place: the coordinator gives the exporter 10 s for each resource."""

_OLD = "labgrid 25.0 or newer is needed: pip install --upgrade labgrid, in labgrid's environment"
_INSTALL = (
    "install labgrid into an environment of its own (python -m venv lab; lab/bin/pip install "
    "labgrid: it replaces pyserial) and give --evb-labgrid-client lab/bin/labgrid-client"
)
_SIGNS_OF_AGE = ("invalid choice", "unrecognized arguments", "crossbar")
"""Commands that it does not know; before 25.0 it spoke crossbar's protocol."""

_PREFIX = re.compile(r"^(?:Server error: |[\w.-]+: )?(?:Error: )?")


class LabError(BoardUnavailable):
    """The lab did not do what it was asked for."""


class NoCoordinator(LabError):
    """The coordinator does not answer: it may later."""


class NotOurs(LabError):
    """labgrid refused a command, as the place is another's or there is no such thing."""


class Runner(Protocol):
    """What runs a command, here or in another process."""

    def __call__(
        self, command: Sequence[str], timeout_s: float, *, abandonable: bool = False
    ) -> Finished:
        """How it ended; ``abandonable``: it may be ended early when nobody waits any more.

        Raises OSError when it cannot be started.
        """


@dataclass(frozen=True)
class Here:
    """Runs commands as children of this process, as ``environment`` says (None: as it is here).

    ``abandoned`` is asked whether nobody waits any more.
    """

    environment: Mapping[str, str] | None = None
    abandoned: Callable[[], bool] | None = None

    def __call__(
        self, command: Sequence[str], timeout_s: float, *, abandonable: bool = False
    ) -> Finished:
        return run_tool(
            command,
            timeout_s=timeout_s,
            environment=self.environment,
            apart=True,
            abandoned=self.abandoned if abandonable else None,
        )


def clean_environment(**more: str) -> dict[str, str]:
    """The environment of labgrid-client: without the variables that choose a place or a file."""
    chosen = ("LG_ENV", "LG_PLACE", "PLACE", "LG_STATE", "STATE", "LG_INITIAL_STATE", "LG_TOKEN")
    kept = {key: value for key, value in os.environ.items() if key not in chosen}
    return {**kept, **more}


def find_client(path: str | None, board: str) -> str:
    """The program. Raises LabError."""
    found = shutil.which(path or CLIENT)
    if found is None:
        where = f"{path} is not there, or no program" if path else "it is not on PATH"
        raise LabError(f"{CLIENT}: {where}", board=board, hint=_INSTALL)
    return str(Path(found).absolute())


def coordinator() -> str:
    """The address of the coordinator, as labgrid-client takes it."""
    return os.environ.get("LG_COORDINATOR", "127.0.0.1:20408")


class LabgridClient:
    """The commands of labgrid-client that ``board`` needs; each raises LabError."""

    def __init__(self, program: str, board: str, runner: Runner | None = None) -> None:
        self._program = program
        self._board = board
        self._run_it = runner or Here(clean_environment())

    def places(self) -> list[Place]:
        """All places of the lab."""
        return self._read(parse_places, self._run("list the places", ["-v", "places"]))

    def show(self, place: str) -> tuple[Place, list[Resource]]:
        """A place by its whole name, and its resources."""
        output = self._run(f"look at {place}", ["-p", place, "show"])
        found = self._read(parse_places, output)
        if [each.name for each in found] != [place]:
            raise self._garbled(output)
        return found[0], self._read(parse_resources, output)

    def reserve(self, tags: Sequence[str]) -> Reservation:
        """Get in line for a place with these tags, ``KEY=VALUE``."""
        output = self._run("reserve a place", ["reserve", *tags])
        found = self._read(parse_reservations, output)
        if len(found) != 1:
            raise self._garbled(output)
        return found[0]

    def wait(self, token: str, seconds: float) -> Reservation | None:
        """Wait in line, which keeps the reservation; None when it takes longer than that."""
        done = self._start(["wait", token], seconds, abandonable=True)
        if done.code is None:
            return None
        return self._read(parse_waited, self._checked("wait for a place", done))

    def reservations(self) -> list[Reservation]:
        """Everybody's reservations."""
        output = self._run("list the reservations", ["reservations"])
        return self._read(parse_reservations, output)

    def cancel(self, token: str) -> None:
        """Give a reservation back."""
        self._run("cancel the reservation", ["cancel-reservation", token])

    def acquire(self, place: str) -> None:
        """Take a place."""
        self._run(f"acquire {place}", ["-p", place, "acquire"], CHANGE_TIMEOUT_S)

    def release_from(self, place: str, owner: str) -> None:
        """Give a place back, if ``owner`` (HOST/USER) has it; nothing when another has it."""
        self._run(f"release {place}", ["-p", place, "release-from", owner], CHANGE_TIMEOUT_S)

    def power_cycle(self, place: str, name: str | None = None) -> None:
        """Cut the power of a place's board, and give it back."""
        more = ["--name", name] if name else []
        words = ["-p", place, "power", "cycle", *more]
        self._run(f"cut the power of {place}", words, CHANGE_TIMEOUT_S)

    def _run(self, what: str, arguments: Sequence[str], timeout_s: float = TIMEOUT_S) -> str:
        done = self._start(arguments, timeout_s)
        if done.code is None:
            raise NoCoordinator(
                f"{what}: {CLIENT} did not finish",
                board=self._board,
                seconds=timeout_s,
                hint=f"is the coordinator {coordinator()} well? {self._last(done)}".strip(),
            )
        return self._checked(what, done)

    def _start(
        self, arguments: Sequence[str], timeout_s: float, *, abandonable: bool = False
    ) -> Finished:
        command = [self._program, *arguments]
        try:
            return self._run_it(command, timeout_s, abandonable=abandonable)
        except OSError as error:
            why = f"cannot run {self._program}: {error.strerror or error}"
            raise LabError(why, board=self._board, hint=_INSTALL) from None

    def _checked(self, what: str, done: Finished) -> str:
        if done.code == 0:
            return done.output
        if any(sign in done.errors for sign in _SIGNS_OF_AGE):
            raise LabError(f"{what}: {self._program} is too old", board=self._board, hint=_OLD)
        if "oordinator" in done.errors and "Could not connect" in done.errors:
            raise NoCoordinator(
                f"{what}: the coordinator {coordinator()} does not answer",
                board=self._board,
                hint="LG_COORDINATOR=HOST:PORT names another; LG_PROXY=HOST goes through ssh",
            )
        last = self._last(done)
        if done.code == 1 and last:
            raise NotOurs(f"{what}: {last}", board=self._board)
        why = f"{what}: {CLIENT} {done.how}"
        raise LabError(why, board=self._board, hint=last or f"run it by hand: {self._program}")

    def _last(self, done: Finished) -> str:
        lines = [line.strip() for line in done.errors.splitlines() if line.strip()]
        return _PREFIX.sub("", lines[-1]) if lines else ""

    def _read(self, parse: Callable[[str], T], text: str) -> T:
        try:
            return parse(text)
        except Garbled:
            raise self._garbled(text) from None

    def _garbled(self, text: str) -> LabError:
        first = next((line.strip() for line in text.splitlines() if line.strip()), "")
        return LabError(
            f"{self._program} printed what is not understood: {first[:120]!r}",
            board=self._board,
            hint="it has to be labgrid-client of labgrid 25.0 or newer",
        )
