"""Folders that other users of this PC cannot write to: for locks, and for what is trusted."""

from __future__ import annotations

import getpass
import os
import stat
import tempfile
from pathlib import Path

from pytest_autodeploy.base.errors import AutodeployError
from pytest_autodeploy.base.names import file_name

_OTHERS = 0o077
_ROOT = 0


class NotPrivate(AutodeployError):
    """A folder is not what it has to be: another user owns it, or may write to it."""


def private_folder() -> Path:
    """This user's folder for locks, made when it is missing. Raises NotPrivate.

    Its name can be guessed and the system's folder for temporary files is everybody's, so another
    user may have been there first: with a folder of his own, or with a symbolic link that leads to
    files of this user.
    """
    user = os.getuid() if hasattr(os, "getuid") else file_name(getpass.getuser())
    folder = Path(tempfile.gettempdir()) / f"pytest-autodeploy-{user}"
    hint = f"remove {folder}, or set TMPDIR to a folder of your own"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _check_private(folder, hint)
    except OSError as error:
        raise NotPrivate(f"cannot make {folder}: {error.strerror or error}", hint=hint) from None
    return folder


def check_trusted(folder: Path, hint: str) -> None:
    """Raise NotPrivate when others can write to a folder whose content this user will run.

    Symbolic links are followed: they are the user's own. To root every owner is good: in a
    container a folder of the host belongs to a user of the host.
    """
    if not hasattr(os, "getuid"):
        return
    try:
        found = folder.stat()
    except OSError:  # nothing there, or nothing that could be read
        return
    if os.getuid() != _ROOT and found.st_uid not in (os.getuid(), _ROOT):
        raise NotPrivate(f"{folder} belongs to another user (uid {found.st_uid})", hint=hint)
    if found.st_mode & stat.S_IWOTH:
        raise NotPrivate(f"every user may write to {folder}", hint=f"chmod o-w {folder}, or {hint}")


def _check_private(folder: Path, hint: str) -> None:
    if not hasattr(os, "getuid"):  # Windows: temporary folders are per user there
        return
    found = folder.lstat()
    if stat.S_ISLNK(found.st_mode):
        raise NotPrivate(f"{folder} is a symbolic link", hint=hint)
    if found.st_uid != os.getuid():
        raise NotPrivate(f"{folder} belongs to another user (uid {found.st_uid})", hint=hint)
    if found.st_mode & _OTHERS:
        folder.chmod(0o700)
