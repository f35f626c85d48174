"""The smallest arenas that earlier runs found: where the search for one starts."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_autodeploy.base.errors import ResultsError
from pytest_autodeploy.base.files import write_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_autodeploy.rpc.messages import Identity

_MOST_BYTES = 1 << 32
_LONGEST_FILE = 64 * 1024
_Found = tuple[int, int]
"""What the engine said it used of its arena, and the smallest arena in which the model ran."""


class KnownArenas:
    """What was found for each model, in a file of its own in ``folder``; None: in this run alone.

    It is a guess and never a result: every search tries the size that it ends with, and the next
    smaller one.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._found: dict[str, dict[str, _Found]] = {}

    def guess(self, sha256: str, identity: Identity, used_bytes: int) -> int:
        """The likely size on a board whose engine says it uses ``used_bytes``.

        On the same core and engine that of an earlier run, else as much above the use as it was on
        another board. A model that no run has seen is likely to need what its engine uses.
        """
        found = self._of(sha256)
        if not found:
            return used_bytes
        used, least = found.get(_place(identity)) or list(found.values())[-1]
        return max(0, used_bytes + least - used)

    def keep(self, sha256: str, identity: Identity, used_bytes: int, least_bytes: int) -> None:
        """Remember a result; a folder that cannot be written to remembers nothing."""
        found, place = self._of(sha256), _place(identity)
        if found.pop(place, None) == (used_bytes, least_bytes):
            found[place] = (used_bytes, least_bytes)
            return
        found[place] = (used_bytes, least_bytes)
        if self._folder is not None:
            with suppress(ResultsError):
                write_bytes(self._path(self._folder, sha256), json.dumps(found).encode())

    def _of(self, sha256: str) -> dict[str, _Found]:
        if sha256 not in self._found:
            self._found[sha256] = self._read(sha256)
        return self._found[sha256]

    def _read(self, sha256: str) -> dict[str, _Found]:
        if self._folder is None:
            return {}
        try:
            with self._path(self._folder, sha256).open("rb") as file:
                return _check(json.loads(file.read(_LONGEST_FILE)))
        except (OSError, ValueError, TypeError, OverflowError, RecursionError):
            return {}

    @staticmethod
    def _path(folder: Path, sha256: str) -> Path:
        return folder / f"{sha256}.json"


def _place(identity: Identity) -> str:
    kind = identity.kind.name.lower()  # a PC's pointers are longer than a board's
    return f"{kind} {identity.core} {identity.engine} {identity.engine_version}"


def _check(document: Mapping[str, Any]) -> dict[str, _Found]:
    """What a file says, if it can be true. Raises ValueError, TypeError."""
    if not isinstance(document, dict):
        raise TypeError
    found = {str(place): (int(used), int(least)) for place, (used, least) in document.items()}
    if not all(0 <= size < _MOST_BYTES for sizes in found.values() for size in sizes):
        raise ValueError
    return found
