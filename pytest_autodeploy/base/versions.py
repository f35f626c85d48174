"""Versions of installed packages, each read once: their metadata is parsed like an e-mail."""

from __future__ import annotations

import functools
import importlib.metadata


@functools.cache
def installed_version(package: str) -> str:
    """The version of a package. Raises importlib.metadata.PackageNotFoundError."""
    return importlib.metadata.version(package)
