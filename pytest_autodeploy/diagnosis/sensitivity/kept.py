"""What inputs would notice, kept by the content of what it depends on; processes may share it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pytest_autodeploy.base.cache_folder import user_cache
from pytest_autodeploy.base.errors import ResultsError
from pytest_autodeploy.base.files import write_bytes
from pytest_autodeploy.base.private_folder import NotPrivate, check_trusted

if TYPE_CHECKING:
    from pytest_autodeploy.limits.tolerance import Tolerance
    from pytest_autodeploy.model.graph import Model
    from pytest_autodeploy.reference.inputs import Inputs

FORMAT = 1
"""Goes up when the same inputs may give another answer."""

T = TypeVar("T")


def default_folder() -> Path:
    """Where a user's cache of answers is."""
    return user_cache("sensitivity")


def answer_key(
    model: Model, inputs: Inputs, tolerance: Tolerance, *, reset_each: bool, versions: object
) -> str:
    """One hash of everything that decides what inputs notice, but for the time it may take."""
    return key_of([model.sha256, inputs.sha256, asdict(tolerance), reset_each, versions])


def key_of(parts: Sequence[object]) -> str:
    """One hash of plain values."""
    return hashlib.sha256(json.dumps([FORMAT, *parts]).encode()).hexdigest()


def kept_in(folder: Path | None) -> Kept | None:
    """The answers that a folder keeps; None without one, or when nothing in it can be trusted."""
    try:
        return Kept(folder) if folder else None
    except NotPrivate:
        return None


class Kept:
    """A folder with a JSON file for each answer; they appear in one step and nobody needs a lock.

    Raises NotPrivate for a folder that other users can write to.
    """

    def __init__(self, folder: Path) -> None:
        check_trusted(folder, "name another folder with --autodeploy-cache=DIR")
        self._folder = folder / "sensitivity" if folder != default_folder() else folder

    @property
    def empty(self) -> bool:
        """Whether nothing was ever kept here, which costs nothing to see."""
        return not self._folder.is_dir()

    def get(self, key: str, kind: type[T]) -> T | None:
        """The answer of that key; None when there is none, or it is damaged."""
        import msgspec

        with suppress(OSError, msgspec.DecodeError, RecursionError):
            return msgspec.json.decode(self._path(key).read_bytes(), type=kind)
        return None

    def put(self, key: str, answer: object) -> None:
        """Keep an answer; a cache that cannot be written is none."""
        import msgspec

        with suppress(ResultsError, OSError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_bytes(self._path(key), msgspec.json.encode(answer))

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key}.json"
