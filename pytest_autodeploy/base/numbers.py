"""Numbers that have to be finite: checked where a user gives them, kept out of plain data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


def check_number(
    name: str, value: object, *, least: float = 0, most: float = math.inf, above: bool = False
) -> None:
    """Refuse what is no finite number from ``least`` to ``most``; ``above``: nor ``least`` itself.

    None is no number that anybody gave, and passes. Raises TypeError for what is no number, such
    as a bool, and ValueError for one that is out of its range, NaN or infinite.
    """
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name} must be a number, not {value!r}")
    if not math.isfinite(value) or not least <= value <= most or (above and value == least):
        raise ValueError(f"{name} must be {_span(least, most, above=above)}, not {value!r}")


def _span(least: float, most: float, *, above: bool) -> str:
    if most == math.inf:
        return f"{'above' if above else 'at least'} {least:g}"
    return f"above {least:g} and at most {most:g}" if above else f"{least:g} to {most:g}"


def finite(value: float | None) -> float | None:
    """The value as plain data: what JSON has no number for is None."""
    return value if value is not None and math.isfinite(value) else None


def finite_data(value: Any) -> Any:
    """Plain data for JSON: numbers that are not finite become None, keys text, tuples lists."""
    if isinstance(value, Mapping):
        return {str(key): finite_data(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite_data(item) for item in value]
    return finite(value) if isinstance(value, float) else value
