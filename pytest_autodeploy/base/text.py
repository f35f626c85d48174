"""Text from outside, such as the names in a model, made fit to be shown."""

from __future__ import annotations


def one_line(text: object, limit: int = 200) -> str:
    """Replace what does not print (line ends, escape codes, bidi marks) by ``?`` and shorten."""
    shown = "".join(char if char.isprintable() else "?" for char in str(text).strip())
    return shown if len(shown) <= limit else f"{shown[: limit - 3]}..."


def lines(text: object, limit: int = 40) -> str:
    """Make each line of a text a printable one and keep the first ``limit``."""
    return "\n".join(one_line(line) for line in str(text).strip().splitlines()[:limit])
