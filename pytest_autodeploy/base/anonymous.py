"""Texts without what says who made them where: user, host, home and working folder."""

from __future__ import annotations

import getpass
import os
import re
import socket
from collections.abc import Iterator
from pathlib import Path

_LEAST_NAME = 3
"""Shorter names of users and hosts are parts of too many words."""

_COMMON = ("root", "localhost", "user", "runner")
"""Names that say nothing of anybody, and are words of the field."""


def anonymous(text: str) -> str:
    """The text with folders of this user as ``~`` and ``.``, and without user and host name."""
    for word, instead in _private():
        text = re.sub(rf"(?<![A-Za-z0-9_]){re.escape(word)}(?![A-Za-z0-9_])", instead, text)
    return text


def _private() -> Iterator[tuple[str, str]]:
    """What is private, the longest paths first, and what stands in its place."""
    paths = {str(Path.cwd()): ".", str(Path.home()): "~"}
    for path in sorted(paths, key=len, reverse=True):
        if len(path) > 1:
            yield path, paths[path]
    host = socket.gethostname()
    names = {host: "HOST", host.partition(".")[0]: "HOST", _user(): "USER"}
    for name, instead in names.items():
        if len(name) >= _LEAST_NAME and name.lower() not in _COMMON:
            yield name, instead


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a user without a name, as in a container
        return os.environ.get("USER", "")
