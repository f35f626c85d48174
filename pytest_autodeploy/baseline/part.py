"""A JSON object of a file that others wrote: each key is checked when it is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from pytest_autodeploy.base.text import one_line, writable
from pytest_autodeploy.baseline.errors import BaselineError

RESTORE = "restore it from version control, or delete it and make a new one"

LARGEST = 1e100
"""No number is larger: what is reckoned with squares of it stays finite."""

LARGEST_WHOLE = 2**53
"""Up to here a float holds every whole number."""

LONGEST = 1000
"""Characters of a text, such as the path of a model."""


@dataclass(frozen=True)
class Part:
    """The object at ``where`` in the file ``name``. Every method raises BaselineError.

    The error names the file, the place in it and the key.
    """

    name: str
    where: str
    plain: Mapping[str, Any]

    def text(self, key: str, choices: Sequence[str] = ()) -> str:
        """A text of a sensible length, one of ``choices`` if there are some."""
        value = self._value(key)
        if choices and value not in choices:
            self._wrong(key, f"one of {', '.join(choices)}")
        if not isinstance(value, str) or not _fit(value):
            self._wrong(key, f"a text of at most {LONGEST} characters")
        return value

    def number(self, key: str, least: float = -LARGEST, most: float = LARGEST) -> float:
        """A finite number in range."""
        value = self._value(key)
        if isinstance(value, bool) or not isinstance(value, int | float):
            self._wrong(key, "a number")
        if not least <= value <= most:  # NaN is in no range
            self._wrong(key, f"a number {_range(least, most)}")
        return value

    def spread(self, key: str) -> float | None:
        """A standard deviation, None where there is none."""
        return self.number(key, 0) if key in self.plain else None

    def whole(self, key: str, least: int, most: int = LARGEST_WHOLE) -> int:
        """A whole number in range."""
        value = self._value(key)
        whole = isinstance(value, int) and not isinstance(value, bool)
        if not whole or not least <= value <= most:
            self._wrong(key, f"a whole number {_range(least, most)}")
        return int(value)

    def part(self, key: str) -> Part:
        """The object of a key."""
        return self._part(key, self._value(key))

    def parts(self, key: str) -> dict[str, Part]:
        """The objects of an object, by their keys."""
        inner = self.part(key)
        return {name: inner.part(name) for name in inner._names()}

    def listed(self, key: str) -> list[Part]:
        """The objects of a list."""
        value = self._value(key)
        if not isinstance(value, list):
            self._wrong(key, "a list")
        return [self._part(f"{key}[{number}]", item) for number, item in enumerate(value)]

    def texts(self, key: str) -> dict[str, str]:
        """An object of texts."""
        inner = self.part(key)
        return {name: inner.text(name) for name in inner._names()}

    def _names(self) -> list[str]:
        """The keys, where these are names and not of the format."""
        for name in self.plain:
            if not _fit(name):
                self._wrong(name, "the value of a sensible key")
        return list(self.plain)

    def _part(self, key: str, value: object) -> Part:
        if not isinstance(value, dict):
            self._wrong(key, "an object", value)
        return Part(self.name, self._place(key), value)

    def _value(self, key: str) -> Any:
        if key not in self.plain:
            whose = f"{self.where} has" if self.where else "it has"
            raise BaselineError(f"{self.name} is damaged: {whose} no {key}", hint=RESTORE)
        return self.plain[key]

    def _wrong(self, key: str, wanted: str, value: object = ...) -> NoReturn:
        found = self.plain[key] if value is ... else value
        raise BaselineError(
            f"{self.name} is damaged: {self._place(key)} is {_shown(found)}, not {wanted}",
            hint=RESTORE,
        )

    def _place(self, key: str) -> str:
        key = one_line(writable(key), 60)
        return f"{self.where}.{key}" if self.where else key


def _fit(text: str) -> bool:
    """Whether files and reports can hold a text: JSON may have halves of surrogate pairs."""
    if len(text) > LONGEST:
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _range(least: float, most: float = LARGEST) -> str:
    return f"from {least:g} to {most}"


def _shown(value: object) -> str:
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    return one_line(ascii(value), 60)
