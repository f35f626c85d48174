"""A model that the host loads into a simulated board's memory, as ``model_store.cc`` has it."""

from __future__ import annotations

import hashlib

from pytest_autodeploy.rpc.messages import Status
from pytest_autodeploy.rpc.service import Refused

_SHA256_BYTES = 32


class ModelStore:
    """Room for a model of at most ``room_bytes``, which comes in pieces; 0: the image has its own.

    Every method raises Refused.
    """

    def __init__(self, room_bytes: int) -> None:
        self._room_bytes = room_bytes
        self._size = 0
        self._expected = b""
        self._arrived = bytearray()
        self._proven = False

    def begin(self, size_bytes: int, sha256: bytes) -> None:
        """Forget the model that is there, and wait for one of this size and hash."""
        self._check()
        self._forget()
        if size_bytes == 0 or len(sha256) != _SHA256_BYTES:
            text = f"a model of {size_bytes} bytes with a SHA-256 of {len(sha256)}"
            raise Refused(Status.BAD_ARGUMENT, text)
        if size_bytes > self._room_bytes:
            text = f"a model of {size_bytes} bytes does not fit; the most is {self._room_bytes}"
            raise Refused(Status.NO_MEMORY, text)
        self._size, self._expected = size_bytes, sha256

    def write(self, offset: int, data: bytes) -> None:
        """Store a piece, which may not leave a gap behind those before it."""
        self._check()
        if not self._size:
            raise Refused(Status.BAD_ARGUMENT, "no model has been begun")
        if self._proven:
            raise Refused(Status.BAD_ARGUMENT, "the model is complete and proven")
        arrived = len(self._arrived)
        if offset > arrived:
            text = f"a piece at byte {offset}; those from byte {arrived} on are missing"
            raise Refused(Status.BAD_ARGUMENT, text)
        if offset + len(data) > self._size:
            text = f"{len(data)} bytes at byte {offset} of a model of {self._size}"
            raise Refused(Status.BAD_ARGUMENT, text)
        self._arrived[offset : offset + len(data)] = data

    def prove(self) -> bytes:
        """All bytes, when they are those that were begun; others are forgotten."""
        self._check()
        if not self._size or len(self._arrived) < self._size:
            text = f"{len(self._arrived)} of the {self._size} bytes of the model have arrived"
            raise Refused(Status.BAD_ARGUMENT, text)
        found = hashlib.sha256(self._arrived).digest()
        if found != self._expected:
            text = (
                f"the model is damaged: its SHA-256 begins with {found[:4].hex()}, "
                f"not with {self._expected[:4].hex()}"
            )
            self._forget()
            raise Refused(Status.BAD_MODEL, text)
        self._proven = True
        return bytes(self._arrived)

    def _forget(self) -> None:
        self._size, self._expected, self._proven = 0, b"", False
        self._arrived = bytearray()

    def _check(self) -> None:
        if not self._room_bytes:
            text = "the image has its model; it takes no other"
            raise Refused(Status.UNSUPPORTED, text)
