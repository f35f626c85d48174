"""Rooms without air: processes with few files, small files, a small /tmp, no terminals, no home."""

from __future__ import annotations

import functools
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.helpers.support import ROOT

WORDS_OF_OURS = ("INTERNALERROR", "Traceback (most recent call last)", "fault of pytest-autodeploy")
"""What no user may see when the PC runs out of something."""

NOT_IN_PASSWD = 48_003


@functools.cache
def _can_mount() -> bool:
    """Whether this user may have mounts of its own."""
    unshare = shutil.which("unshare")
    command = [unshare or "", "-rm", "mount", "-t", "tmpfs", "none", "/mnt"]
    return unshare is not None and subprocess.run(command, check=False).returncode == 0


needs_mounts = pytest.mark.skipif(
    sys.platform != "linux" or not _can_mount(), reason="mounts of one's own are not allowed here"
)


def run(
    command: Sequence[str | Path],
    folder: Path,
    *,
    files: int | None = None,
    file_bytes: int | None = None,
    behind: str = "",
    timeout_s: float = 120,
    **environment: str,
) -> subprocess.CompletedProcess[str]:
    """Run a command with at most so many open files, or files of at most so many bytes.

    Modules in the folder ``behind`` are found in place of installed ones.
    """
    path = os.pathsep.join(filter(None, (behind, str(ROOT))))

    def limit() -> None:
        if files is not None:
            resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
        if file_bytes is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))

    return subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        # Python 3.11 takes the part of its bytecode that a full disk has room for for the whole.
        env=os.environ | {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"} | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout_s,
        preexec_fn=limit,
    )


def mounted(script: str, command: Sequence[str | Path]) -> list[str | Path]:
    """The command behind a shell script that mounts, seen by it alone."""
    return ["unshare", "-rm", "sh", "-c", f'{script} && exec "$@"', "sh", *command]


def become(user: int, command: Sequence[str | Path]) -> list[str | Path]:
    """The command run by a user id that may read what this user may, and that has no home."""
    own = ["unshare", "--user", f"--map-user={user}", f"--map-group={user}"]
    return [*own, "env", "-u", "HOME", "-u", "XDG_CACHE_HOME", *command]


def said(done: subprocess.CompletedProcess[str]) -> str:
    """What a run printed, which may not show anything of ours."""
    text = done.stdout + done.stderr
    for words in WORDS_OF_OURS:
        assert words not in text, text
    return text
