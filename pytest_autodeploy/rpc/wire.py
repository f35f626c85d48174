"""How typed values travel: eRPC's basic codec, strict about what arrives, driven by annotations.

``Annotated[int, "uint32"]`` names a type of the interface file that Python does not have.
"""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Callable, Mapping
from enum import IntEnum
from functools import cache
from operator import methodcaller
from typing import Annotated, Any, Self, get_args, get_origin, get_type_hints

from erpc.basic_codec import BasicCodec
from erpc.codec import CodecError, MessageInfo, MessageType

Int32 = Annotated[int, "int32"]
Uint32 = Annotated[int, "uint32"]
Uint64 = Annotated[int, "uint64"]


class MessageCodec(BasicCodec):  # type: ignore[misc]
    """A basic codec that answers every malformed message with `CodecError`."""

    def __init__(self, buffer: bytes | bytearray = b"") -> None:
        super().__init__()
        self.buffer = buffer if buffer else bytearray()

    @property
    def remaining(self) -> int:
        """Bytes that have not been read yet."""
        return len(self._buffer) - int(self._cursor)

    def start_write_message(self, msgInfo: MessageInfo) -> None:  # noqa: N803 (eRPC's name)
        """The head of a message."""
        kind, service, request, number = msgInfo
        head = self.BASIC_CODEC_VERSION << 24 | service << 16 | request << 8 | kind.value
        self._buffer += _HEAD.pack(head, number)

    def start_read_message(self) -> MessageInfo:
        """The head of the message; an unknown message type is a `CodecError`."""
        try:
            head, number = _HEAD.unpack_from(self._buffer, self._cursor)
            self._cursor += _HEAD.size
            if head >> 24 != self.BASIC_CODEC_VERSION:
                raise CodecError(f"unsupported codec version {head >> 24}")
            return MessageInfo(
                type=MessageType(head & 0xFF),
                service=head >> 16 & 0xFF,
                request=head >> 8 & 0xFF,
                sequence=number,
            )
        except struct.error as error:
            raise CodecError("the message ends early") from error
        except ValueError as error:
            raise CodecError(str(error)) from error

    def read_binary(self) -> bytes:
        """Bytes; a length beyond the end of the message is a `CodecError`."""
        length = self.read_uint32()
        self._require(length, "bytes")
        start = self._cursor
        self._cursor += length
        return bytes(self._buffer[start : self._cursor])

    def read_string(self) -> str:
        """Text; what is not UTF-8 is a `CodecError`."""
        try:
            return self.read_binary().decode()
        except UnicodeDecodeError as error:
            raise CodecError("a string is not UTF-8") from error

    def start_read_list(self) -> int:
        """The length of a list; one that the message cannot hold is a `CodecError`."""
        length = int(self.read_uint32())
        self._require(length, "list elements")
        return length

    def end(self) -> None:
        """Checks that nothing is left."""
        if self.remaining:
            raise CodecError(f"{self.remaining} bytes too many")

    def _require(self, length: int, what: str) -> None:
        if length > self.remaining:
            raise CodecError(f"{length} {what} announced, {self.remaining} bytes left")

    def _read(self, fmt: str) -> Any:
        form = _struct(fmt)
        try:
            (value,) = form.unpack_from(self._buffer, self._cursor)
        except struct.error as error:
            raise CodecError("the message ends early") from error
        self._cursor += form.size
        return value

    def _write(self, fmt: str, value: Any) -> None:
        try:
            self._buffer += _struct(fmt).pack(value)
        except struct.error as error:
            raise CodecError(f"{value!r} cannot be sent: {error}") from error


_HEAD = struct.Struct("<II")


@cache
def _struct(form: str) -> struct.Struct:
    return struct.Struct(form)


@dataclasses.dataclass(frozen=True)
class Wire:
    """One type on the wire: its name in the interface file, how to read and write it, its zero."""

    name: str
    read: Callable[[BasicCodec], Any]
    write: Callable[[BasicCodec, Any], None]
    blank: Any


class Struct:
    """Base of the frozen dataclasses that travel, field by field in the order of declaration."""

    @classmethod
    def read(cls, codec: BasicCodec) -> Self:
        """Reads one from a message; raises `CodecError` when the bytes are not one."""
        return cls(*[read(codec) for read in readers_of(cls)])

    def write(self, codec: BasicCodec) -> None:
        """Writes itself to a message."""
        for name, wire in wires_of(type(self)).items():
            wire.write(codec, getattr(self, name))


def readers_of(struct_type: Any) -> tuple[Callable[[BasicCodec], Any], ...]:
    """How the fields of a `Struct` are read, in their order."""
    return _readers_of(struct_type)


def wires_of(struct_type: Any) -> Mapping[str, Wire]:
    """The fields of a `Struct` and how they travel."""
    return _wires_of(struct_type)


@cache
def _wires_of(struct_type: Any) -> Mapping[str, Wire]:
    hints = get_type_hints(struct_type, include_extras=True)
    return {name: wire_of(hint) for name, hint in hints.items()}


@cache
def _readers_of(struct_type: Any) -> tuple[Callable[[BasicCodec], Any], ...]:
    return tuple(wire.read for wire in _wires_of(struct_type).values())


@cache
def wire_of(annotation: Any) -> Wire:
    """How a value of an annotated type travels."""
    if get_origin(annotation) is Annotated:
        python_type, name = get_args(annotation)
        return _scalar(name, python_type)
    if get_origin(annotation) is tuple:
        return _list(wire_of(get_args(annotation)[0]))
    if issubclass(annotation, Struct):
        blank = annotation(*(wire.blank for wire in wires_of(annotation).values()))
        return Wire(
            annotation.__name__, annotation.read, lambda codec, value: value.write(codec), blank
        )
    if issubclass(annotation, IntEnum):
        return dataclasses.replace(_scalar("int32", annotation), name=annotation.__name__)
    return _scalar(_PLAIN[annotation], annotation)


_PLAIN = {str: "string", bytes: "binary", bool: "bool", float: "float"}


def _scalar(name: str, python_type: Callable[..., Any]) -> Wire:
    take = methodcaller(f"read_{name}")

    def read(codec: BasicCodec) -> Any:
        value = take(codec)
        try:
            return python_type(value)
        except ValueError as error:
            raise CodecError(str(error)) from error

    def write(codec: BasicCodec, value: Any) -> None:
        getattr(codec, f"write_{name}")(value)

    # What the codec gives is of that type already, but for an enum.
    plain = python_type in (int, float, bool, str, bytes)
    blank = python_type() if name in ("string", "binary") else python_type(0)
    return Wire(name, take if plain else read, write, blank)


def _list(element: Wire) -> Wire:
    def read(codec: BasicCodec) -> Any:
        return tuple(element.read(codec) for _ in range(codec.start_read_list()))

    def write(codec: BasicCodec, values: Any) -> None:
        codec.start_write_list(len(values))
        for value in values:
            element.write(codec, value)

    return Wire(f"list<{element.name}>", read, write, ())
