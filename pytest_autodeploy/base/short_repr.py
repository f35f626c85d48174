"""Short texts of results: pytest shows them in failures, and arrays would bury what matters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def short(value: object, **facts: object) -> str:
    """The class of a value and the facts that tell it apart, such as ``Latency(median_us=321.5)``.

    Numbers have six digits.
    """
    text = ", ".join(f"{name}={_word(fact)}" for name, fact in facts.items())
    return f"{type(value).__name__}({text})"


def shapes(arrays: Sequence[Any]) -> str:
    """Arrays by type and shape, such as ``int8 (10, 1, 12)``."""
    return "; ".join(f"{array.dtype} {tuple(array.shape)}" for array in arrays)


def _word(fact: object) -> str:
    return f"{fact:.6g}" if isinstance(fact, float) else repr(fact)
