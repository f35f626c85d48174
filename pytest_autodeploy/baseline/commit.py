"""The commit that a run was made of, and on which branch or for which pull request."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from pytest_autodeploy.base.process import run_tool

TIMEOUT_S = 10.0
VARIABLES = ("GITHUB_SHA", "CI_COMMIT_SHA")
"""Where CI systems say it, for a copy that is no repository."""

BRANCHES = ("GITHUB_HEAD_REF", "GITHUB_REF_NAME", "CI_COMMIT_REF_NAME", "BRANCH_NAME")
"""Where CI systems say the branch; what they check out is often none."""

PULL_REQUESTS = (
    "CI_MERGE_REQUEST_IID",
    "CHANGE_ID",
    "BITBUCKET_PR_ID",
    "SYSTEM_PULLREQUEST_PULLREQUESTID",
)
"""Where GitLab, Jenkins, Bitbucket and Azure say that a run is for a pull request."""


@dataclass(frozen=True)
class Commit:
    """A commit's hash, empty when unknown, and whether files were changed since.

    ``branch`` is empty when it is unknown, ``pull_request`` when the run is for none.
    """

    sha: str
    changed: bool = False
    branch: str = ""
    pull_request: str = ""


def current_commit(folder: Path) -> Commit:
    """The commit checked out in ``folder``, by git or else by the variables of CI systems."""
    sha = _git(folder, "rev-parse", "HEAD")
    branch = _first(BRANCHES) or _git(folder, "rev-parse", "--abbrev-ref", "HEAD")
    where = "" if branch == "HEAD" else branch
    if sha:
        changed = bool(_git(folder, "status", "--porcelain", "--untracked-files=no"))
        return Commit(sha, changed, where, pull_request())
    return Commit(_first(VARIABLES), False, where, pull_request())


def pull_request() -> str:
    """What names the pull request that this run is for, empty for none.

    GitHub has its number in the name of the ref.
    """
    ref = os.environ.get("GITHUB_REF", "")
    if os.environ.get("GITHUB_HEAD_REF") or ref.startswith("refs/pull/"):
        return ref.removeprefix("refs/pull/").partition("/")[0] or "unnumbered"
    return _first(PULL_REQUESTS)


def _first(variables: tuple[str, ...]) -> str:
    return next((os.environ[name] for name in variables if os.environ.get(name)), "")


def _git(folder: Path, *arguments: str) -> str:
    git = shutil.which("git")
    if git is None:
        return ""
    try:
        done = run_tool([git, *arguments], timeout_s=TIMEOUT_S, folder=folder, apart=True)
    except OSError:
        return ""
    return done.output.strip() if done.code == 0 else ""
