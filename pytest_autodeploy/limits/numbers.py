"""Checks of what a user writes for a limit."""

from __future__ import annotations

from collections.abc import Sequence


def check_count(name: str, value: object, least: int) -> None:
    """See that a value is a whole number of at least ``least``. Raises TypeError, ValueError."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be a whole number, not {value!r}")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, not {value!r}")


def check_choice(name: str, value: object, choices: Sequence[object]) -> None:
    """See that a value is one of some. Raises ValueError."""
    if value not in choices:
        valid = ", ".join(str(choice) for choice in choices if choice is not None)
        raise ValueError(f"{name}={value!r} is not one of {valid}")
