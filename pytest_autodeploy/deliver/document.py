"""Frozen dataclasses as plain JSON values and back, with every type checked."""

from __future__ import annotations

import base64
import binascii
import types
import typing
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

T = TypeVar("T")


class WrongValue(ValueError):
    """A value that its field cannot have; the text names the field."""


def to_plain(value: Any) -> Any:
    """Dataclasses become objects, tuples lists, bytes base64; all else stays as it is."""
    if is_dataclass(value):
        return {field.name: to_plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple):
        return [to_plain(item) for item in value]
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    return value


def from_plain(kind: type[T], value: object, name: str) -> T:
    """The dataclass ``kind`` from what ``to_plain`` gave; ``name`` stands in errors.

    Keys that it does not have are left alone. Raises WrongValue.
    """
    if not isinstance(value, Mapping):
        raise WrongValue(f"{name} is not an object")
    hints = typing.get_type_hints(kind)
    parts = {}
    for field in fields(kind):  # type: ignore[arg-type]  # a dataclass, as ``hints`` found
        if field.name not in value:
            raise WrongValue(f"{name}.{field.name} is missing")
        parts[field.name] = _value(hints[field.name], value[field.name], f"{name}.{field.name}")
    return kind(**parts)


def _value(hint: Any, value: object, name: str) -> Any:
    if is_dataclass(hint):
        return from_plain(typing.cast(type, hint), value, name)
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is tuple:
        if not isinstance(value, list):
            raise WrongValue(f"{name} is not a list")
        return tuple(_value(arguments[0], item, f"{name}[{at}]") for at, item in enumerate(value))
    if origin is types.UnionType:
        return None if value is None else _value(arguments[0], value, name)
    if origin is typing.Literal:
        if value not in arguments:
            raise WrongValue(f"{name} is {value!r}, not one of {', '.join(arguments)}")
        return value
    return _scalar(hint, value, name)


def _scalar(kind: type, value: object, name: str) -> Any:
    if kind is bytes and isinstance(value, str):
        try:
            return base64.b64decode(value, validate=True)
        except binascii.Error:
            raise WrongValue(f"{name} is not base64") from None
    if kind is float and type(value) is int:
        return float(value)
    if type(value) is not kind:
        raise WrongValue(f"{name} is {value!r:.40}, not of the type {kind.__name__}")
    return value
