"""Text from outside, such as the names in a model, made fit to be shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any


def one_line(text: object, limit: int = 200) -> str:
    """Replace what does not print (line ends, escape codes, bidi marks) by ``?`` and shorten."""
    shown = str(text).strip()
    if not shown.isprintable():
        shown = "".join(char if char.isprintable() else "?" for char in shown)
    return shown if len(shown) <= limit else f"{shown[: limit - 3]}..."


def lines(text: object, limit: int = 40) -> str:
    """Make each line of a text a printable one and keep the first ``limit``."""
    return "\n".join(one_line(line) for line in str(text).strip().splitlines()[:limit])


def join_lines(lines: Iterable[str]) -> str:
    """Make one line of several: behind a colon or comma it goes on, else a semicolon parts them."""
    joined = ""
    for line in filter(None, (each.strip() for each in lines)):
        gap = " " if joined.endswith((":", ",", ";")) else "; "
        joined = f"{joined}{gap}{line}" if joined else line
    return joined


def writable(text: str) -> str:
    """Text that can be written as UTF-8.

    Names of files that are not UTF-8 come from Python with lone surrogates, which no writer takes
    (PEP 383): they become escapes such as ``\\udcff``.
    """
    return text.encode(errors="backslashreplace").decode()


def writable_data(value: Any) -> Any:
    """Plain data, such as a record, with every text in it and every key made ``writable``.

    Data that has been so already is given back as it is.
    """
    import msgspec

    with suppress(TypeError, ValueError):  # UnicodeEncodeError: what is to be mended
        msgspec.json.encode(value)  # C, which takes a hundredth of looking here
        return value
    return _mended(value)


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return writable(value)
    if isinstance(value, Mapping):
        return {_mended(key): _mended(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_mended(item) for item in value]
    if isinstance(value, tuple):
        return tuple(_mended(item) for item in value)
    return value
