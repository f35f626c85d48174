"""Files whose content this user runs: nobody else may own or change them."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from pytest_autodeploy.base.private_folder import NotPrivate

_ROOT = 0
_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def check_owned(file: Path, hint: str) -> None:
    """Raise NotPrivate unless the file is this user's or root's, and nobody else may change it.

    A symbolic link is followed, and what holds for the file holds for the folder that it is in,
    where others could put another one: but for a sticky one, such as ``/tmp``. Raises OSError.
    """
    if not hasattr(os, "getuid"):
        return
    place = file.resolve(strict=True)
    found = place.stat()
    _check_owner(place, found, hint)
    if found.st_mode & _OTHERS:
        raise NotPrivate(f"others may write to {place}", hint=f"chmod go-w {place}, or {hint}")
    folder = place.parent.stat()
    _check_owner(place.parent, folder, hint)
    if folder.st_mode & stat.S_IWOTH and not folder.st_mode & stat.S_ISVTX:
        raise NotPrivate(
            f"every user may write to {place.parent}", hint=f"chmod o-w {place.parent}, or {hint}"
        )


def _check_owner(place: Path, found: os.stat_result, hint: str) -> None:
    if found.st_uid not in (os.getuid(), _ROOT):
        raise NotPrivate(f"{place} belongs to another user (uid {found.st_uid})", hint=hint)
