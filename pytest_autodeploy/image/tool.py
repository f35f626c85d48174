"""Programs that a build runs: found or named, each with a deadline."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from pytest_autodeploy.base.process import Finished, run_tool
from pytest_autodeploy.base.progress import show_task
from pytest_autodeploy.image.errors import BuildError, ToolMissing

_LAST_LINES = 3


def find_program(name: str, *, needed: str, install: str) -> Path:
    """The program on PATH. Raises ToolMissing: what it is ``needed`` for and how to ``install``."""
    found = shutil.which(name)
    if found is None:
        raise ToolMissing(f"{needed} needs {name}, which is not on PATH", hint=install)
    return Path(found)


def run_build_tool(
    command: Sequence[str | Path],
    *,
    what: str,
    timeout_s: float,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Finished:
    """Run a program to its end; ``what`` it does stands in errors.

    Raises BuildError after ``timeout_s``, ToolMissing when it cannot be started.
    """
    words = [str(part) for part in command]
    try:
        with show_task(what):
            done = run_tool(words, timeout_s=timeout_s, folder=folder, environment=environment)
    except OSError as error:
        raise ToolMissing(
            f"{what}: cannot run {words[0]}: {error.strerror}",
            hint="install it again; `autodeploy doctor` tells of what does not run",
        ) from None
    if done.code is None:
        last = " / ".join(done.output.strip().splitlines()[-_LAST_LINES:]) or "nothing"
        raise BuildError(
            f"{what}: {Path(words[0]).name} did not finish",
            seconds=timeout_s,
            hint=f"It said last: {last}",
        )
    return done
