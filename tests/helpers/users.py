"""Other users of the same PC, as root can be any of them."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.helpers.support import ROOT

needs_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can be two users"
)

ATTACKER, VICTIM = 48_001, 48_002
"""User ids that no account has."""

BECOME = """
import os, tempfile
tempfile.tempdir = {folder!r}
os.setgroups([])
os.setresgid({user}, {user}, {user})
os.setresuid({user}, {user}, {user})
"""


def run_as(user: int, code: str, *, folder: Path, imports: str = "") -> str:
    """What Python code printed, run by that user with ``folder`` for temporary files.

    ``imports`` are done by root before: the user may not be able to read this checkout.
    """
    script = f"{imports}\n{BECOME.format(user=user, folder=str(folder))}\n{code}"
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
    )
    assert not done.returncode, done.stderr
    return done.stdout


@contextmanager
def everybodys_folder() -> Iterator[Path]:
    """A folder like the system's one for temporary files: every user may write to it."""
    with tempfile.TemporaryDirectory(dir="/tmp") as text:
        folder = Path(text)
        folder.chmod(0o1777)
        yield folder
