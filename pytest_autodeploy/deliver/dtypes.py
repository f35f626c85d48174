"""Types of tensors in C: their numbers, which are TensorFlow Lite's, and values as C text."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from pytest_autodeploy.deliver.errors import DeliveryError

_A_LINE = 12


@dataclass(frozen=True)
class CType:
    """A type of elements: its ``number`` in the C API, and how example values are written.

    Floats are written as their bits, which hold every value exactly: infinities and NaN, too, and
    whatever the compiler is told of them.
    """

    number: int
    element: str
    code: str  # of struct, as it is written
    digits: int = 0  # of hex; 0: decimal

    @property
    def bytes(self) -> int:
        """Bytes of one element."""
        return struct.calcsize(f"<{self.code}")


TYPES = {
    "float32": CType(1, "uint32_t", "I", digits=8),
    "int32": CType(2, "int32_t", "i"),
    "uint8": CType(3, "uint8_t", "B"),
    "int64": CType(4, "int64_t", "q"),
    "bool": CType(6, "uint8_t", "B"),
    "int16": CType(7, "int16_t", "h"),
    "int8": CType(9, "int8_t", "b"),
    "float16": CType(10, "uint16_t", "H", digits=4),
    "float64": CType(11, "uint64_t", "Q", digits=16),
    "uint64": CType(13, "uint64_t", "Q"),
    "uint32": CType(16, "uint32_t", "I"),
    "uint16": CType(17, "uint16_t", "H"),
}


def c_type(dtype: str, tensor: str) -> CType:
    """The type of a tensor's elements. Raises DeliveryError for those that C has no type for."""
    if dtype not in TYPES:
        raise DeliveryError(
            f"tensor {tensor!r} has the type {dtype}, which the C interface does not have; "
            f"it has {', '.join(TYPES)}",
            hint="convert the model with inputs and outputs of one of these types",
        )
    return TYPES[dtype]


def c_values(kind: CType, data: bytes) -> str:
    """Little-endian values as the lines between the braces of an array."""
    texts = [_literal(kind, value) for (value,) in struct.iter_unpack(f"<{kind.code}", data)]
    return "\n".join(f"    {', '.join(line)}," for line in _lines(texts))


def _lines(texts: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(texts), _A_LINE):
        yield texts[start : start + _A_LINE]


def _literal(kind: CType, value: int) -> str:
    wide = "LL" if kind.bytes == 8 else ""
    unsigned = "U" if kind.element.startswith("uint") and kind.bytes >= 4 else ""
    if kind.digits:
        return f"0x{value:0{kind.digits}x}{unsigned}{wide}"
    if value == -(1 << 63):
        return "INT64_MIN"  # C has no negative literals, and its magnitude has no signed type
    return f"{value}{unsigned}{wide}"
