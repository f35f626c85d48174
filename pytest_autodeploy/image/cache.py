"""The cache of builds: finished images by key, and folders in which only changes are compiled."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import shutil
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_autodeploy.base.cache_folder import user_cache
from pytest_autodeploy.base.file_lock import LockHeld, LockUnusable, locked_file
from pytest_autodeploy.base.private_folder import NotPrivate, check_trusted
from pytest_autodeploy.image.errors import BuildError
from pytest_autodeploy.image.key import build_id, content_digest

LOG = logging.getLogger(__name__)

HINT = "Another folder: --autodeploy-cache=DIR."

_MANIFEST = "image.json"
_FILES = "files"
"""In the manifest: the SHA-256 of each file by its name."""

_KEPT_IMAGES = 200
_NEW = ".new-"
_HALF_S = 3600
"""An image is copied in a moment: one that is not finished by then never will be."""


class DamagedCache(UserWarning):
    """Firmware in the cache was not what had been built."""


@dataclass(frozen=True)
class Built:
    """A finished image; ``fresh`` says whether this call built it."""

    folder: Path
    build_id: str
    fresh: bool

    def file(self, suffix: str) -> Path:
        """One of its files, such as ``.elf`` or ``.bin``."""
        return self.folder / f"autodeploy{suffix}"


class BuildCache:
    """A folder of images and build folders; any number of processes may use it at once."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._images = root / "images"

    def get(self, key: str) -> Built | None:
        """The image of that key, None when there is none. Raises BuildError.

        One whose files are not those that were built is removed, with a warning.
        """
        self._check_owner()
        folder = self._images / key
        if not (folder / _MANIFEST).is_file():
            return None
        if damage := _damage(folder):
            shutil.rmtree(folder, ignore_errors=True)
            warnings.warn(
                f"the cache of firmware is damaged: {damage}; it is built again",
                DamagedCache,
                stacklevel=2,
            )
            return None
        with contextlib.suppress(OSError):
            os.utime(folder)  # the least recently used goes first
        return Built(folder, build_id(key), fresh=False)

    def get_or_build(
        self,
        key: str,
        folder: str,
        build: Callable[[Path], Mapping[str, Path]],
        *,
        facts: Mapping[str, object],
        timeout_s: float,
    ) -> Built:
        """The image of that key; else the files by suffix that ``build`` makes in a build folder.

        Builds in the same ``folder`` wait for one another, at most ``timeout_s``. ``facts`` are
        kept with the image for people. Raises BuildError, and what ``build`` raises.
        """
        found = self.get(key)
        if found:
            LOG.debug("%s is in the cache: %s", facts, found.folder)
            return found
        LOG.debug("%s is built in %s", facts, folder)
        with self._build_folder(folder, timeout_s) as place:
            return self.get(key) or self._publish(key, build(place), facts)

    def _check_owner(self) -> None:
        """What is in the cache is flashed and run, so nobody else may have put it there."""
        try:
            check_trusted(self.root, "name another folder with --autodeploy-cache=DIR")
        except NotPrivate as error:
            raise BuildError(f"the cache is not used: {error.what}", hint=error.hint) from None

    @contextlib.contextmanager
    def _build_folder(self, name: str, timeout_s: float) -> Iterator[Path]:
        place = self.root / "build" / name
        try:
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
            place.mkdir(parents=True, exist_ok=True)
            self._images.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BuildError(
                f"cannot write to the cache {self.root}: {error.strerror}", hint=HINT
            ) from None
        try:
            with locked_file(place.with_name(f"{name}.lock"), timeout_s):
                yield place
        except LockHeld:
            raise BuildError(
                f"another process builds in {place} and does not come to an end",
                seconds=timeout_s,
                hint="end that process, or use another --autodeploy-cache",
            ) from None
        except LockUnusable as error:
            raise BuildError(error.what, hint=error.hint) from error

    def _publish(self, key: str, files: Mapping[str, Path], facts: Mapping[str, object]) -> Built:
        with tempfile.TemporaryDirectory(dir=self._images, prefix=_NEW) as text:
            new = Path(text) / key
            new.mkdir()
            digests = {}
            for suffix, path in files.items():
                name = f"autodeploy{suffix}"
                shutil.copyfile(path, new / name)
                digests[name] = content_digest(new / name)
            manifest = json.dumps({**facts, _FILES: digests}, indent=1)
            (new / _MANIFEST).write_text(manifest, encoding="utf-8")
            shutil.rmtree(self._images / key, ignore_errors=True)
            new.rename(self._images / key)
        self._forget_old()
        return Built(self._images / key, build_id(key), fresh=True)

    def _forget_old(self) -> None:
        for half in self._images.glob(f"{_NEW}*"):  # of a run that was killed
            if time.time() - _last_use(half) > _HALF_S:
                shutil.rmtree(half, ignore_errors=True)
        images = [path for path in self._images.iterdir() if not path.name.startswith(".")]
        for old in sorted(images, key=_last_use, reverse=True)[_KEPT_IMAGES:]:
            shutil.rmtree(old, ignore_errors=True)


def _damage(folder: Path) -> str:
    """What of an image is not as it was built; empty when all of it is."""
    try:
        files = json.loads((folder / _MANIFEST).read_bytes())[_FILES].items()
        for name, digest in files:
            if content_digest(folder / name) != digest:
                return f"{folder / name} has another content than was built"
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        return f"{folder / _MANIFEST}: {type(error).__name__}: {error}"
    return ""


def _last_use(folder: Path) -> float:
    try:
        return folder.stat().st_mtime
    except OSError:  # another process forgot it
        return 0.0


def default_folder() -> Path:
    """Where a user's cache of firmware is."""
    return user_cache("firmware")
