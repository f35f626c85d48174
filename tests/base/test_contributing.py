"""CONTRIBUTING.md says what is so."""

from __future__ import annotations

import re
import tomllib

from tests.helpers.support import ROOT

TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
CELL = re.compile(r"^\| (`[a-z`, ]+`) \|", re.MULTILINE)
NAMED = re.compile(r"`((?:catalog|board|power|settings|tests|firmware|\.ci)/[\w./]+)`")


def test_the_tiers_are_those_of_the_contract_in_their_order() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = project["tool"]["importlinter"]["contracts"][0]["layers"]
    tiers = [re.findall(r"[a-z]+", cell) for cell in CELL.findall(TEXT)]
    assert tiers == [layer.split(" | ") for layer in layers]


def test_the_files_that_it_names_are_there() -> None:
    named = NAMED.findall(TEXT)
    assert len(named) > 8
    places = (ROOT, ROOT / "pytest_autodeploy")
    assert [name for name in named if not any((place / name).exists() for place in places)] == []
