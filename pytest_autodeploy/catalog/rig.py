"""The rig file: the boards of a lab, by name, and how each is reached."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_autodeploy.base.errors import AutodeployError
from pytest_autodeploy.base.port_place import port_place
from pytest_autodeploy.base.private_folder import NotPrivate
from pytest_autodeploy.base.trusted_file import check_owned
from pytest_autodeploy.catalog.boards import UnknownBoard
from pytest_autodeploy.catalog.kinds import AT, kind_of, spec_of
from pytest_autodeploy.catalog.rig_lines import Lines

KEYS = ("name", "type", "port", "probe", "meter", "power")
_UHUBCTL = ("hub", "port")
_OFF_S = "2"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_MOST_BYTES = 1 << 20
ELSEWHERE = "use a file of your own, such as ~/.config/autodeploy/rig.toml"


class RigError(AutodeployError):
    """The rig file cannot be used; the text names the file, the line, the board and the key."""

    usual_hint = "each board is a table [[board]] with name, type, and port or probe"


class UnknownRigBoard(AutodeployError):
    """The rig has no board of that name, or of that type."""


@dataclass(frozen=True)
class RigBoard:
    """One board of a rig.

    ``type`` is as ``--evb`` takes it, such as ``apollo4p_evb``; ``port`` a device or URL, ``probe``
    and ``meter`` are serial numbers. ``power_cycle`` are the arguments of the command that takes
    its power away and gives it back, empty where there is none. ``line`` is its place in the file.
    """

    name: str
    type: str
    port: str | None = None
    probe: str | None = None
    meter: str | None = None
    power_cycle: tuple[str, ...] = ()
    line: int | None = None

    @property
    def id(self) -> str:
        """What tells it from all others in reports and node ids: ``apollo4p_evb@lab3-a``."""
        return f"{self.type}{AT}{self.name}"

    @property
    def attached(self) -> bool:
        """Whether it runs its model already: it has no probe that would flash another one."""
        return self.probe is None


@dataclass(frozen=True)
class Rig:
    """The boards of a rig file, in its order."""

    path: Path
    boards: tuple[RigBoard, ...]

    def of(self, board_id: str) -> tuple[RigBoard, ...]:
        """The boards that a user may mean: one by its id, or all of a type."""
        return tuple(board for board in self.boards if board_id in (board.id, board.type))

    def named(self, name: str) -> RigBoard:
        """The board of that name. Raises UnknownRigBoard, which lists those that there are."""
        for board in self.boards:
            if board.name == name:
                return board
        names = [board.name for board in self.boards]
        near = difflib.get_close_matches(name, names, n=1)
        meant = f"Did you mean {near[0]}? " if near else ""
        raise UnknownRigBoard(
            f"no board {name!r} in {self.path}", hint=f"{meant}Boards: {', '.join(names)}"
        )


def read_rig(path: Path) -> Rig:
    """The rig of a file that is trusted, as it has commands to run. Raises RigError."""
    try:
        check_owned(path, ELSEWHERE)
        content = path.read_bytes()
    except NotPrivate as error:
        raise RigError(f"the rig file is not trusted: {error.what}", hint=error.hint) from None
    except OSError as error:
        raise RigError(
            f"cannot read the rig file {path}: {error.strerror or error}", hint=ELSEWHERE
        ) from None
    if len(content) > _MOST_BYTES:
        raise RigError(f"{path} has {len(content)} bytes, more than a rig file can have")
    try:
        return parse_rig(content.decode("utf-8"), path)
    except UnicodeDecodeError as error:
        raise RigError(f"{path} is no text in UTF-8: byte {error.start}") from None


def parse_rig(text: str, path: Path) -> Rig:
    """The rig that a text in TOML holds. Raises RigError for the first thing that is wrong."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RigError(f"{path} is no TOML: {error}") from None
    lines = Lines(path, text)
    unknown = [key for key in document if key != "board"]
    if unknown:
        raise RigError(f"{lines.top(unknown[0])}: unknown key {unknown[0]!r}")
    tables = document.get("board")
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise RigError(f"{path} has no [[board]]")
    boards = tuple(_Reader(lines, number, table).board() for number, table in enumerate(tables))
    _check_unique(boards, lines)
    return Rig(path, boards)


@dataclass(frozen=True)
class _Reader:
    """Reads one ``[[board]]``; every error has the line of its key, or of the table."""

    lines: Lines
    number: int
    raw: Mapping[str, Any]

    def board(self) -> RigBoard:
        for key in self.raw:
            if key not in KEYS:
                near = difflib.get_close_matches(key, KEYS, n=1)
                meant = f"; did you mean {near[0]}?" if near else ""
                raise self._error(key, f"unknown key {key!r}{meant}", f"keys: {', '.join(KEYS)}")
        board = RigBoard(
            name=self._name(),
            type=self._type(),
            port=self._text("port"),
            probe=self._text("probe"),
            meter=self._text("meter"),
            power_cycle=self._power(),
            line=self.lines.of(self.number),
        )
        self._check_way(board)
        return board

    def _text(self, key: str) -> str | None:
        value = self.raw.get(key)
        if value is None:
            return None
        if not isinstance(value, str):
            hint = f'put it in quotes: {key} = "{value}"' if _is_whole(value) else None
            raise self._error(key, f"{key} is {value!r}, not a text", hint)
        if not value.strip() or not value.isprintable():
            raise self._error(key, f"{key} is {value!r}, which is empty or cannot be printed")
        return value

    def _wanted(self, key: str) -> str:
        value = self._text(key)
        if value is None:
            raise self._error(key, f"{key} is missing")
        return value

    def _name(self) -> str:
        name = self._wanted("name")
        if not _NAME.fullmatch(name):
            raise self._error(
                "name",
                f"name is {name!r}",
                "a name has letters, digits, '.', '_' and '-', 64 at most",
            )
        return name

    def _type(self) -> str:
        board_id = self._wanted("type")
        try:
            kind = kind_of(board_id)
            spec_of(board_id)
        except UnknownBoard as error:
            raise self._error("type", f"type: {error.what}", error.hint) from None
        if not kind.attachable or AT in board_id:
            raise self._error(
                "type",
                f"type is {board_id!r}, which a run starts by itself",
                "a rig has EVBs, and simulated boards that run behind a port",
            )
        return board_id

    def _check_way(self, board: RigBoard) -> None:
        if board.port is None and board.probe is None:
            raise self._error("port", "it has neither port nor probe", "give one, or both")
        if board.probe is not None and not kind_of(board.type).is_hardware:
            raise self._error("probe", f"no probe flashes a board of the type {board.type}")

    def _power(self) -> tuple[str, ...]:
        value = self.raw.get("power")
        if value is None:
            return ()
        if isinstance(value, dict):
            return self._uhubctl(value)
        if isinstance(value, list) and value and all(map(_is_argument, value)):
            return tuple(value)
        raise self._error(
            "power",
            f"power is {value!r}",
            'it is a command as a list of arguments, ["relay", "--cycle", "3"], or the hub and '
            'port of uhubctl, {hub = "1-1.4", port = 2}',
        )

    def _uhubctl(self, value: Mapping[str, Any]) -> tuple[str, ...]:
        """uhubctl switches the ports of USB hubs: https://github.com/mvp/uhubctl."""
        hub, port = value.get("hub"), value.get("port")
        if set(value) != set(_UHUBCTL) or not isinstance(hub, str) or not _is_whole(port):
            raise self._error("power", f"power is {dict(value)!r}", '{hub = "1-1.4", port = 2}')
        if not re.fullmatch(r"\d+(-\d+(\.\d+)*)?", hub) or int(str(port)) < 1:
            raise self._error("power", f"power is {dict(value)!r}", "uhubctl lists hubs and ports")
        return ("uhubctl", "-l", hub, "-p", str(port), "-a", "cycle", "-d", _OFF_S)

    def _error(self, key: str, what: str, hint: str | None = None) -> RigError:
        name = self.raw.get("name")
        of_board = f"board {name}" if isinstance(name, str) else f"board {self.number + 1}"
        return RigError(f"{self.lines.place(self.number, key)}: {of_board}: {what}", hint=hint)


def _is_argument(value: object) -> bool:
    return isinstance(value, str) and bool(value) and "\0" not in value


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _check_unique(boards: Sequence[RigBoard], lines: Lines) -> None:
    """One name, one port and one probe are one board; a meter may serve several."""
    for key in ("name", "port", "probe"):
        seen: dict[str, RigBoard] = {}
        for number, board in enumerate(boards):
            value = getattr(board, key)
            if value is None:
                continue
            same = port_place(value, look_up=False) if key == "port" else value.lstrip("0") or value
            other = seen.setdefault(same, board)
            if other is not board:
                raise RigError(
                    f"{lines.place(number, key)}: board {board.name}: {key} {value} is that of "
                    f"board {other.name}, too",
                    hint="each board has a name, a port and a probe of its own",
                )
