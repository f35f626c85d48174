"""Which boards of a rig are taken out: a file beside it, which people and runs change."""

from __future__ import annotations

import datetime
import getpass
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pytest_autodeploy.base.errors import AutodeployError
from pytest_autodeploy.base.file_lock import locked_file
from pytest_autodeploy.base.files import write_bytes

Why = Literal["by hand", "quarantine"]

_MOST_BYTES = 1 << 20
_LOCK_S = 10.0


class RigStateError(AutodeployError):
    """The file with the boards that are taken out cannot be used."""


@dataclass(frozen=True)
class TakenOut:
    """A board that no run is to use: since when (ISO 8601, UTC), by whom, why."""

    why: Why
    since: str
    by: str
    reason: str = ""

    @property
    def text(self) -> str:
        """One line: ``by hand, alice since 2026-12-01T17:00:00Z: cable``."""
        reason = f": {self.reason}" if self.reason else ""
        return f"{self.why}, {self.by} since {self.since}{reason}"


@dataclass(frozen=True)
class _Document:
    """What the file holds."""

    version: Literal[1]
    out: dict[str, TakenOut]


class RigState:
    """The boards that are taken out, by name, in the file ``path``; no file is none of them."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def beside(cls, rig: Path) -> RigState:
        """That of a rig file: ``lab.toml`` has ``lab.state.json``."""
        return cls(rig.with_suffix(".state.json"))

    def read(self) -> dict[str, TakenOut]:
        """The boards that are taken out. Raises RigStateError."""
        import msgspec

        try:
            with self.path.open("rb") as file:
                content = file.read(_MOST_BYTES + 1)
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise self._failure(error.strerror or str(error)) from None
        if len(content) > _MOST_BYTES:
            raise self._failure(f"it has more than {_MOST_BYTES} bytes")
        try:
            return msgspec.json.decode(content, type=_Document).out
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise self._failure(str(error)) from None

    def take_out(self, name: str, *, why: Why = "by hand", reason: str = "") -> None:
        """Let no run use a board; one that is out already gets the new reason.

        Raises RigStateError, ResultsError.
        """
        self._change(name, TakenOut(why, _now(), user_name(), reason))

    def put_back(self, name: str) -> TakenOut | None:
        """Let runs use it again; gives what it was, None when it was not taken out.

        Raises RigStateError, ResultsError.
        """
        return self._change(name, None)

    def _change(self, name: str, state: TakenOut | None) -> TakenOut | None:
        import msgspec

        try:
            with locked_file(self.path.with_suffix(".lock"), _LOCK_S):
                boards = self.read()
                before = boards.pop(name, None)
                if state is not None:
                    boards[name] = state
                if state is not None or before is not None:
                    content = msgspec.json.format(msgspec.json.encode(_Document(1, boards)))
                    write_bytes(self.path, content + b"\n")
        except RigStateError:
            raise
        except AutodeployError as error:
            raise self._failure(error.what) from None
        return before

    def _failure(self, why: str) -> RigStateError:
        return RigStateError(
            f"cannot use {self.path}, which says what boards are taken out: {why}",
            hint="who may write to its folder may take boards out and put them back; "
            "without the file none is out",
        )


def user_name() -> str:
    """The name of this user; its number where it has none."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
