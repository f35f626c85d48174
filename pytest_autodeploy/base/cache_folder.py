"""Where a user keeps what need not be computed twice."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from pytest_autodeploy.base.private_folder import private_folder


def user_cache(name: str) -> Path:
    """The folder ``name`` of this project in the user's cache.

    It is below ``XDG_CACHE_HOME``, ``~/.cache``, or ``%LOCALAPPDATA%`` on Windows; without a home,
    as in a container whose user has none, in this user's own folder for temporary files.
    """
    variable = "LOCALAPPDATA" if sys.platform == "win32" else "XDG_CACHE_HOME"
    base = os.environ.get(variable, "")
    root = Path(base) if Path(base).is_absolute() else _home_cache()
    return root / "pytest-autodeploy" / name


def _home_cache() -> Path:
    try:
        return Path.home() / ".cache"
    except RuntimeError:  # HOME is not set, and the user id has no entry in passwd
        return private_folder() / "cache"
