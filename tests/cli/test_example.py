"""``autodeploy example``: a folder to start from, from a wheel or a checkout."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from pytest_autodeploy.cli.example import EXAMPLES
from tests.helpers.cli_support import run

ROOT = Path(__file__).parents[2]


def test_what_is_written_passes_as_its_next_steps_say(pytester: pytest.Pytester) -> None:
    done = run("example", "digits", "new/folder")
    assert done.exit_code == 0, done.output
    next_steps = [line.strip() for line in done.output.partition("Try it:")[2].splitlines()]

    assert next_steps[1:] == [
        "cd new/folder",
        "pytest autodeploy --tflite=models/digits_cnn.tflite",
        "pytest digits_suite",
    ]
    pytester.chdir()
    result = pytester.runpytest("new/folder/digits_suite", "-k", "computes or given_by")
    result.assert_outcomes(passed=2, deselected=7)


@pytest.mark.usefixtures("pytester")
def test_a_file_that_is_there_is_not_replaced_and_nothing_else_written() -> None:
    mine = Path("mine/digits_suite/test_digits.py")
    mine.parent.mkdir(parents=True)
    mine.write_text("my own work", encoding="utf-8")
    done = run("example", "digits", "mine")

    assert done.exit_code == 1
    assert "mine/digits_suite/test_digits.py is there already, and is not replaced" in done.output
    assert [each for each in Path("mine").rglob("*") if each.is_file()] == [mine]
    assert mine.read_text(encoding="utf-8") == "my own work"


@pytest.mark.usefixtures("pytester")
def test_a_folder_that_cannot_be_made_is_one_message() -> None:
    Path("file").write_text("", encoding="utf-8")
    done = run("example", "kws", "file/folder")

    assert done.exit_code == 1
    assert "cannot be written: Not a directory\n  name another folder" in done.output


@pytest.mark.usefixtures("pytester")
def test_json_names_the_files() -> None:
    done = run("example", "kws", "here", "--json")

    document = json.loads(done.output)
    assert document["files"] == ["models/kws_ds_cnn.tflite"]
    assert all((Path("here") / file).is_file() for file in document["files"])


def test_the_wheel_carries_every_folder_that_an_example_is_in() -> None:
    hatch = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]
    shipped = hatch["build"]["targets"]["wheel"]["force-include"]
    for file in sum(EXAMPLES.values(), ()):
        folder = f"examples/{Path(file).parent}"
        assert shipped[folder] == f"pytest_autodeploy/{folder}"
        assert (ROOT / "examples" / file).is_file()
