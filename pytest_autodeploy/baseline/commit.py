"""The commit that a run was made of."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from pytest_autodeploy.base.process import run_tool

TIMEOUT_S = 10.0
VARIABLES = ("GITHUB_SHA", "CI_COMMIT_SHA")
"""Where CI systems say it, for a copy that is no repository."""


@dataclass(frozen=True)
class Commit:
    """A commit's hash, empty when unknown, and whether files were changed since."""

    sha: str
    changed: bool = False


def current_commit(folder: Path) -> Commit:
    """The commit checked out in ``folder``, by git or else by the variables of CI systems."""
    sha = _git(folder, "rev-parse", "HEAD")
    if sha:
        return Commit(sha, bool(_git(folder, "status", "--porcelain", "--untracked-files=no")))
    return Commit(next((os.environ[name] for name in VARIABLES if os.environ.get(name)), ""))


def _git(folder: Path, *arguments: str) -> str:
    git = shutil.which("git")
    if git is None:
        return ""
    try:
        done = run_tool([git, *arguments], timeout_s=TIMEOUT_S, folder=folder, apart=True)
    except OSError:
        return ""
    return done.output.strip() if done.code == 0 else ""
