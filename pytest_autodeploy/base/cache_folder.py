"""Where a user keeps what need not be computed twice."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def user_cache(name: str) -> Path:
    """The folder ``name`` of this project in the user's cache.

    It is below ``XDG_CACHE_HOME``, ``~/.cache``, or ``%LOCALAPPDATA%`` on Windows.
    """
    variable = "LOCALAPPDATA" if sys.platform == "win32" else "XDG_CACHE_HOME"
    base = os.environ.get(variable, "")
    root = Path(base) if Path(base).is_absolute() else Path.home() / ".cache"
    return root / "pytest-autodeploy" / name
