"""From dataclasses to plain data and back; what JSON has no number for is None."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pytest_autodeploy.base.measurement import finite

T = TypeVar("T")


def recorded(value: object, kind: type[T], **more: object) -> T:
    """A dataclass as its record ``kind``, which has fields of the same names, and ``more``.

    Numbers that are not finite become None. Raises msgspec.ValidationError when a field that the
    record needs is not there, or of another type.
    """
    import msgspec

    return msgspec.convert({**_finite(msgspec.to_builtins(value)), **more}, kind)


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return finite(value) if isinstance(value, float) else value
