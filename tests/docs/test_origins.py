"""The pages for those who come from AutoDeploy or MLIA: every row, and all that its cells name."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from pytest_autodeploy.catalog.kinds import spec_of
from pytest_autodeploy.cli import autodeploy
from pytest_autodeploy.plugin.old_names import NEW
from pytest_autodeploy.settings.options import OPTIONS
from tests.helpers.pages import ROOT

ROWS = ROOT / "docs" / "reference" / "autodeploy-rows.md"
HOW = ROOT / "docs" / "how-to" / "from-autodeploy.md"
MLIA = ROOT / "docs" / "how-to" / "from-mlia.md"
ORACLE = ROOT / "tests" / "npu" / "test_mlia_oracle.py"
OTHERWISE = ("≠", "\N{EN DASH}")
STATUSES = ("=", "+", *OTHERWISE)
REFUSED = ("apollo510_eb", "apollo510L_eb")
OF_PYTEST = {"--deselect", "--help", "--log-cli-level", "--html", "--junitxml"}
WITHOUT_ANSWER = {"--baud", "--verbosity", "--configfile", "--seed", "--runs",
                  "--resource-variable-count", "--create-aot-profile",
                  "--helia-aot-config"}  # fmt: skip
"""Options of AutoDeploy that are too common a word, or that have no counterpart to answer with."""


@dataclass(frozen=True)
class Row:
    """One line of a table: number, the origin's feature, ours, status, and what shows it."""

    number: str
    origin: str
    ours: str
    status: str
    shown: str

    def named(self) -> list[str]:
        """What ours and the evidence have in code font."""
        return re.findall(r"`([^`]+)`", f"{self.ours} {self.shown}")


def rows(page: Path) -> list[Row]:
    lines = page.read_text(encoding="utf-8").splitlines()
    cells = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines if re.match(r"\| [OM]?\d", line)]
    return [Row(*(cell.strip() for cell in each)) for each in cells]


ALL = [*rows(ROWS), *rows(MLIA)]


def numbers(cell: str) -> Iterator[str]:
    """``O21-26`` and ``36/37`` are several."""
    prefix = cell[0] if cell[0] in "OM" else ""
    for part in cell.removeprefix(prefix).split("/"):
        first, dash, last = part.partition("-")
        if not dash:
            yield f"{prefix}{first}"
        else:
            yield from (f"{prefix}{n}" for n in range(int(first), int(last) + 1))


def test_every_feature_has_one_row() -> None:
    expected = [*(str(n) for n in range(1, 136)), "96b"]
    expected += [f"O{n}" for n in range(1, 50)] + [f"M{n}" for n in range(1, 48)]
    found = [number for row in ALL for number in numbers(row.number)]
    assert sorted(found) == sorted(expected)
    assert len(ALL) == 181


def test_a_row_that_is_not_the_same_or_better_says_why() -> None:
    for row in ALL:
        assert row.status in STATUSES, row
        assert row.shown, row
    others = {row.number: row.ours for row in ALL if row.status in OTHERWISE}
    assert sorted(others) == ["O10", "O12"]
    assert all(len(words.split()) > 15 for words in others.values())


@pytest.mark.parametrize("row", ALL, ids=lambda row: str(row.number))
def test_what_a_row_names_exists(row: Row) -> None:
    for name in row.named():
        check(name)


def check(name: str) -> None:
    """A command, an option, a file of the project, or a test of the oracle."""
    words = name.split()
    if words[0] in ("pytest", "autodeploy") and len(words) > 1:
        check_command(shlex.split(name))
    elif name.startswith("--"):
        assert words[0].partition("=")[0] in known_options(), name
    elif re.match(r"(tests|docs|firmware|templates)/", name):
        path, _, test = name.partition("::")
        assert (ROOT / path).is_file(), name
        assert f"def {test}(" in (ROOT / path).read_text(encoding="utf-8") or not test, name
    elif name.startswith("test_"):
        assert f"def {name}(" in ORACLE.read_text(encoding="utf-8"), name


def check_command(words: list[str]) -> None:
    known = pytest_options()
    if words[0] == "autodeploy":
        command = autodeploy.commands[words[1]]
        known = frozenset(flag for each in command.params for flag in each.opts)
    flags = [word for word in words if word.startswith("--")]
    assert [flag for flag in flags if flag not in known] == []
    for flag, value in pairwise(words):
        if flag in ("--evb", "--board") and value not in REFUSED:
            assert spec_of(value).name


@cache
def pytest_options() -> frozenset[str]:
    flags = {option.flag for option in OPTIONS}
    return frozenset(flags | OF_PYTEST | {"--autodeploy-check-wiring"})


@cache
def known_options() -> frozenset[str]:
    commands = autodeploy.commands.values()
    typed = {flag for each in commands for param in each.params for flag in param.opts}
    return pytest_options() | typed


def test_what_is_refused_is_told_so() -> None:
    from pytest_autodeploy.catalog.boards import RefusedBoard

    for name in REFUSED:
        with pytest.raises(RefusedBoard, match="neuralSPOT"):
            spec_of(f"sim:{name}")


def option_table() -> list[list[str]]:
    text = HOW.read_text(encoding="utf-8")
    part = text.partition("## Options")[2].partition("\n## ")[0]
    lines = [line for line in part.splitlines() if line.startswith("| `")]
    return [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines]


def test_every_old_option_is_answered_and_every_new_one_exists() -> None:
    table = option_table()
    memories = [
        f"--reserve-{m}-{unit}" for m in ("sram", "dtcm", "mram") for unit in ("percent", "kb")
    ]
    old = {name for origin, _ in table for name in re.findall(r"--[\w-]+", origin)}
    old |= set(memories)
    assert old - {"--reserve-"} <= set(NEW) | WITHOUT_ANSWER
    assert set(NEW) - old <= {"--no-create-library", "--create-profile"}
    for _, ours in table:
        for name in re.findall(r"`(--[^`\s=]+)", ours):
            assert name in known_options(), name


@pytest.mark.slow
def test_the_files_that_are_named_are_left(pytester: pytest.Pytester) -> None:
    """By a run of everything that needs no SDK."""
    from tests.helpers.support import DIGITS

    text = HOW.read_text(encoding="utf-8")
    part = text.partition("## Files")[2].partition("\n## ")[0]
    ours = " ".join(line.split("|")[2] for line in part.splitlines() if line.startswith("| `"))
    names = [name for name in re.findall(r"`([\w./]+)`", ours) if "/" in name or "." in name]
    result = pytester.runpytest(
        f"--tflite={DIGITS}", "--autodeploy-name=mymodel", "--autodeploy-artifacts=all",
        "--tflite-profile=both", "--autodeploy-xlsx", "--autodeploy-power=off",
    )  # fmt: skip
    result.assert_outcomes(passed=5)
    (folder,) = (pytester.path / "autodeploy-results" / "mymodel").iterdir()
    left = {path.name for path in folder.rglob("*")}
    binaries = {"bin/"}  # these need a compiler and the SDK
    missing = [name for name in names if name not in binaries and Path(name).name not in left]
    assert missing == []
    assert len(names) >= 8
