"""One option of the plugin, and how its text is read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

T = TypeVar("T")
IniType = Literal["string", "args", "bool", "int", "float"]
Group = Literal["models", "boards", "measuring", "results"]
"""Under which heading of ``pytest --help`` an option stands."""


@dataclass(frozen=True)
class Option:
    """One setting: its command-line option, its ini twin ``autodeploy_<name>`` and its default.

    ``bare`` is the value of an option that is given without one. ``limit``: it declares a limit,
    of which the command line and the ini file are put together. ``env`` is a variable of the
    environment that may set it, too. ``group`` is its heading in ``pytest --help``. ``aliases`` are
    other names of the command-line option.
    """

    name: str
    flag: str
    help: str
    metavar: str | None = None
    ini: IniType | None = "string"
    default: Any = None
    choices: tuple[str, ...] | None = None
    repeatable: bool = False
    switch: bool = False
    bare: str | None = None
    limit: bool = False
    env: str | None = None
    convert: Callable[[str], Any] = str
    group: Group = "results"
    aliases: tuple[str, ...] = ()

    @property
    def dest(self) -> str:
        """Where the parsed option is stored."""
        return f"autodeploy_{self.name}"

    @property
    def ini_name(self) -> str:
        """Name of the ini twin."""
        return f"autodeploy_{self.name}"


def in_group(group: Group, options: Iterable[Option]) -> Iterator[Option]:
    """The options under that heading."""
    return (replace(option, group=group) for option in options)


def positive_int(text: str) -> int:
    """Parse a whole number of at least 1; ValueError else."""
    value = _number(int, text)
    if value is None or value < 1:
        raise ValueError(f"{text!r} is not a positive whole number")
    return value


def tcp_port(text: str) -> int:
    """Parse the number of a TCP port; ValueError else."""
    value = _number(int, text)
    if value is None or not 1 <= value <= 0xFFFF:
        raise ValueError(f"{text!r} is not a port from 1 to 65535")
    return value


def positive_float(text: str) -> float:
    """Parse a finite number above 0; ValueError else."""
    from pytest_autodeploy.base.numbers import finite

    value = _number(float, text)
    if value is None or finite(value) is None or value <= 0:
        raise ValueError(f"{text!r} is not a positive number")
    return value


def natural(text: str) -> int:
    """Parse a whole number of at least 0; ValueError else."""
    value = _number(int, text)
    if value is None:
        raise ValueError(f"{text!r} is not a whole number")
    if value < 0:
        raise ValueError(f"{text!r} is negative")
    return value


def age(text: str) -> str:
    """Check an age such as ``7d``, ``12h`` or ``2w``; ValueError else."""
    if not re.fullmatch(r"[1-9]\d{0,4}[dhw]", text):
        raise ValueError(f"{text!r} is not an age such as 7d, 12h or 2w")
    return text


def _number(kind: Callable[[str], T], text: str) -> T | None:
    """The number that a text is, else None: Python's own words speak of literals and bases."""
    try:
        return kind(text)
    except ValueError:
        return None


def plain_name(text: str) -> str:
    """Parse a name that may become a folder: letters, digits, and ``._-``; ValueError else."""
    if not re.fullmatch(r"\w[\w.-]{0,99}", text, re.ASCII):
        raise ValueError(f"{text!r} is not a name of letters, digits, '.', '_' and '-'")
    return text
