"""Checked reading of one entry of a TOML document; every error names the entry and the key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pytest_autodeploy.base.errors import AutodeployError

Choice = TypeVar("Choice", bound=str)


class CatalogError(AutodeployError):
    """The catalog has an entry that cannot be used; the text names the entry and the key."""

    usual_hint = "mend the entry, or upgrade or uninstall the package that brings it"


@dataclass(frozen=True)
class Entry:
    """A table of the document under its dotted name; every getter raises CatalogError."""

    name: str
    raw: Mapping[str, Any]

    def has(self, key: str) -> bool:
        return key in self.raw

    def text(self, key: str) -> str:
        """A string that is not empty."""
        value = self._get(key, str)
        if not value:
            raise self._error(key, "is empty")
        return str(value)

    def optional_text(self, key: str) -> str | None:
        """As ``text``; None when the key is absent."""
        return self.text(key) if self.has(key) else None

    def whole(self, key: str, least: int) -> int:
        """An integer of at least ``least``."""
        value = int(self._get(key, int))
        if value < least:
            raise self._error(key, f"is {value}, less than {least}")
        return value

    def number_of(self, key: str, choices: tuple[float, ...]) -> float:
        """One of the numbers."""
        value = float(self._get(key, float))
        if value not in choices:
            raise self._error(key, f"is {value:g}, not one of {', '.join(map(str, choices))}")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of strings."""
        values = self._get(key, list)
        if not all(isinstance(value, str) for value in values):
            raise self._error(key, "is not a list of strings")
        return tuple(values)

    def one_of(self, key: str, choices: tuple[Choice, ...]) -> Choice:
        """One of the choices."""
        value = self._get(key, str)
        for choice in choices:
            if value == choice:
                return choice
        raise self._error(key, f"is {value!r}, not one of {', '.join(choices)}")

    def some_of(self, key: str, choices: tuple[Choice, ...]) -> tuple[Choice, ...]:
        """A list of some of the choices, at least one, in its own order."""
        values = self.texts(key)
        known = tuple(choice for value in values for choice in choices if choice == value)
        if not values or len(known) != len(values):
            raise self._error(key, f"is {list(values)!r}, not some of {', '.join(choices)}")
        return known

    def table(self, key: str) -> Entry:
        """A table inside this one."""
        return Entry(f"{self.name}.{key}", self._get(key, dict))

    def _get(self, key: str, kind: type) -> Any:
        if key not in self.raw:
            raise self._error(key, "is missing")
        value = self.raw[key]
        kinds = (float, int) if kind is float else kind
        if not isinstance(value, kinds) or isinstance(value, bool):
            raise self._error(key, f"is {value!r}, not {_KINDS[kind]}")
        return value

    def _error(self, key: str, what: str) -> CatalogError:
        return CatalogError(f"board catalog: {self.name}: {key} {what}")


_KINDS: Mapping[type, str] = {
    str: "a string",
    int: "a whole number",
    float: "a number",
    list: "a list",
    dict: "a table",
}
