"""The documented table of exit codes, and runs that end with each."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCUMENT = Path(__file__).parents[2] / "docs" / "reference" / "exit-codes.md"
MODEL = "--tflite=digits_cnn.tflite"


def test_every_exit_code_of_pytest_has_a_row() -> None:
    rows = re.findall(r"^\| (\d) \| `(\w+)` \|", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE)

    assert {(str(code.value), code.name) for code in pytest.ExitCode} <= set(rows)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ((MODEL, "-k", "fits"), 0),
        ((MODEL, "-k", "fits", "--tflite-memory-limit=arena_kb=0.1"), 1),
        (("test_broken.py",), 2),
        ((MODEL, "--tflite-accuracy=min=0.9"), 4),
        ((MODEL, "-k", "nothing_has_this_name"), 5),
    ],
)
def test_a_run_ends_with_the_code_of_the_table(
    pytester: pytest.Pytester, digits: Path, arguments: tuple[str, ...], code: int
) -> None:
    assert digits.is_file()
    Path("test_broken.py").write_text("import no_such_module\n", encoding="utf-8")
    Path("pytest.ini").write_text("[pytest]\npython_files = other_*.py\n", encoding="utf-8")

    assert pytester.runpytest(*arguments).ret == code
