"""The constraints that are tried are the lowest versions that pyproject.toml allows."""

from __future__ import annotations

import re
import tomllib

from tests.helpers.support import ROOT

BOUND = re.compile(r"([\w-]+)>=([\w.]+)")
ELSEWHERE = {"pytest-autodeploy"}


def test_every_lower_bound_is_tried() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    bounds = [*project["dependencies"], *extras["sim"], *extras["vela"], *extras["test"]]
    found = [match for match in map(BOUND.match, bounds) if match]
    wanted = {match[1]: match[2] for match in found}
    lines = (ROOT / ".ci" / "lowest.txt").read_text(encoding="utf-8").splitlines()
    pairs = [line.partition("==") for line in lines if "==" in line]
    tried = {name: version for name, _, version in pairs}
    assert tried.keys() == wanted.keys() - ELSEWHERE
    assert [name for name in tried if padded(tried[name]) != padded(wanted[name])] == []


def padded(version: str) -> list[str]:
    """A version without the zeros at its end: 8.4 and 8.4.0 are the same."""
    parts = version.split(".")
    while parts[-1] == "0":
        parts.pop()
    return parts
