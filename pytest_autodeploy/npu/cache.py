"""What Vela wrote, kept by the content of what went in; several processes may share it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, fields
from pathlib import Path

from pytest_autodeploy.base.cache_folder import user_cache
from pytest_autodeploy.base.errors import ResultsError
from pytest_autodeploy.base.files import write_bytes
from pytest_autodeploy.base.private_folder import check_trusted
from pytest_autodeploy.npu.vela import VelaOutput

_FORMAT = 1


def default_folder() -> Path:
    """Where a user's cache of Vela's output is."""
    return user_cache("vela")


def cache_key(model_sha256: str, config_sha256: str, version: str, arguments: Sequence[str]) -> str:
    """One hash of everything that decides what Vela writes."""
    parts = [str(_FORMAT), model_sha256, config_sha256, version, *arguments]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


class VelaCache:
    """A folder with one JSON file per run of Vela.

    Files appear in one step and are never changed, so nobody needs a lock: when two processes miss
    the same entry, both run Vela and write the same.
    """

    def __init__(self, folder: Path) -> None:
        """Raise NotPrivate for a folder that other users can write to."""
        check_trusted(folder, "name another folder with --autodeploy-cache=DIR")
        self._folder = folder

    def get(self, key: str) -> VelaOutput | None:
        """The entry of that key; None when there is none, or it is damaged."""
        try:
            entry = json.loads(self._path(key).read_bytes())
            texts = {name.name: entry["output"][name.name] for name in fields(VelaOutput)}
            intact = entry["sha256"] == _digest(texts)
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None
        return VelaOutput(**texts) if intact else None

    def put(self, key: str, output: VelaOutput) -> None:
        """Keep an entry; a cache that cannot be written is none."""
        texts = asdict(output)
        entry = {"sha256": _digest(texts), "output": texts}
        with suppress(ResultsError, OSError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_bytes(self._path(key), json.dumps(entry).encode())

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key}.json"


def _digest(texts: dict[str, str]) -> str:
    return hashlib.sha256(json.dumps(texts, sort_keys=True).encode()).hexdigest()
