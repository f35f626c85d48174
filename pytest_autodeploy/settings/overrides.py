"""What fixtures that are override points may return, checked where it comes in.

An error names the fixture, the value, and what is valid.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from pytest_autodeploy.base.errors import AutodeployError, InputsError

SESSION, BOARD, METER = "model_session_options", "evb_options", "power_meter_options"
"""The override points that return a dictionary."""

MAX_BYTES = (1 << 32) - 1
"""What the RPC has room for."""


class OverrideError(AutodeployError):
    """A fixture of the project returned what cannot be used; the text names it and valid values."""


@contextmanager
def naming(fixture: str) -> Iterator[None]:
    """Let errors about inputs name the fixture that gave them."""
    try:
        yield
    except InputsError as error:
        raise InputsError(f"{fixture}: {error.what}", hint=error.hint) from None


@dataclass(frozen=True)
class Entry:
    """One key of such a dictionary: whether a value is ``right``, and in words what is."""

    text: str
    right: Callable[[Any], bool]
    convert: Callable[[Any], Any] = lambda value: value


def whole(least: int, most: int | None = None, also: str = "") -> Entry:
    """A whole number from ``least`` on."""
    text = f"a whole number of at least {least}{also}"
    return Entry(
        text,
        lambda value: _is_whole(value) and least <= value <= (most or value),
        operator.index,  # NumPy's are no integers to JSON
    )


def one_of(*choices: object) -> Entry:
    """One of some values; True and False are no numbers."""
    text = f"one of {', '.join(map(str, choices))}"
    return Entry(text, lambda value: not isinstance(value, bool) and value in choices)


def strings() -> Entry:
    """A list of strings."""
    return Entry(
        "a list of strings",
        lambda value: isinstance(value, list | tuple) and all(isinstance(v, str) for v in value),
    )


def anything() -> Entry:
    """What a package that brings a kind of boards checks itself."""
    return Entry("anything", lambda _: True)


def checked(fixture: str, options: object, valid: Mapping[str, Entry]) -> dict[str, Any]:
    """The options of a fixture, as a dictionary. Raises OverrideError."""
    if not isinstance(options, Mapping):
        raise OverrideError(
            f"{fixture}: {options!r:.80} is no dictionary", hint=f"Valid are {_listing(valid)}."
        )
    unknown = [key for key in options if key not in valid]
    if unknown:
        raise OverrideError(
            f"{fixture}: {', '.join(sorted(map(str, unknown)))} unknown; "
            f"valid are {', '.join(valid) or 'none'}"
        )
    for key, value in options.items():
        if not valid[key].right(value):
            raise OverrideError(f"{fixture}: {key} is {value!r:.80}, not {valid[key].text}")
    return {key: valid[key].convert(value) for key, value in options.items()}


def _listing(valid: Mapping[str, Entry]) -> str:
    return "; ".join(f"{key}, {entry.text}" for key, entry in valid.items()) or "none"


def _is_whole(value: Any) -> bool:
    return hasattr(value, "__index__") and not isinstance(value, bool)


SESSION_OPTIONS: Mapping[str, Entry] = {
    "arena_bytes": whole(0, MAX_BYTES, " (0: the largest that the board allows)"),
    "clock": one_of("HP", "LP"),
    "latency_runs": whole(1),
    "state": one_of("carry", "reset"),
}
