"""Programs that stand in for real tools on PATH, with the failures that a test is about."""

from __future__ import annotations

import os
import time
from pathlib import Path

_PATIENCE_S = 30.0


def fake_program(folder: Path, name: str, script: str) -> Path:
    """A shell script under the name of a tool."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def ends(pid: int) -> bool:
    """Whether a process ends soon; a dead one that nobody has waited for has ended."""
    deadline = time.monotonic() + _PATIENCE_S
    while time.monotonic() < deadline:
        if not _runs(pid):
            return True
        time.sleep(0.01)
    return False


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except ProcessLookupError:
        return False
    except OSError:  # no /proc here
        return True
