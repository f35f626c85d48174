"""From dataclasses to plain data and back; what JSON has no number for is None."""

from __future__ import annotations

from typing import TypeVar

from pytest_autodeploy.base.numbers import finite_data

T = TypeVar("T")


def recorded(value: object, kind: type[T], **more: object) -> T:
    """A dataclass as its record ``kind``, which has fields of the same names, and ``more``.

    Numbers that are not finite become None. Raises msgspec.ValidationError when a field that the
    record needs is not there, or of another type.
    """
    import msgspec

    return msgspec.convert({**finite_data(msgspec.to_builtins(value)), **more}, kind)
