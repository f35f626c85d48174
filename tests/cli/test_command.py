"""The command as a whole: help, errors, exit codes, pipes, and how fast it starts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import click
import pytest

from pytest_autodeploy.cli import COMMANDS, autodeploy, main
from tests.helpers.cli_support import PROCESS, run, run_json


def test_help_names_every_command_and_the_exit_codes() -> None:
    result = run("--help")

    assert result.exit_code == 0
    assert "0 all is well, 1 something is wrong" in " ".join(result.stdout.split())
    for command in COMMANDS:
        assert f"\n  {command.name}" in result.stdout


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: str(command.name))
def test_every_command_explains_itself_and_its_json(command: click.Command) -> None:
    result = run(str(command.name), "--help")

    assert result.exit_code == 0
    assert "--json" in result.stdout
    assert command.help


def test_the_command_is_installed_under_its_name() -> None:
    scripts = entry_points(group="console_scripts", name="autodeploy")

    assert [script.load() for script in scripts] == [main]


def test_an_error_is_one_message_on_standard_error() -> None:
    result = run("inspect", "nowhere.tflite")

    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.startswith("Error: no such model file: ")
    assert "Give a file" in result.stderr
    assert "Traceback" not in result.stderr


def test_with_json_an_error_is_an_object() -> None:
    code, document = run_json("inspect", "nowhere.tflite")

    assert code == 1
    assert document["schema"] == 1
    assert document["error"].startswith("no such model file: ")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["dance"], "No such command 'dance'"),
        (["inspect"], "Missing argument 'MODEL...'"),
        (["doctor", "dance"], "'dance' is not one of"),
        (["sim", "apolo4p_evb"], "Did you mean sim:apollo4p_evb?"),
    ],
)
def test_what_is_not_understood_is_exit_code_2(arguments: list[str], words: str) -> None:
    result = run(*arguments)
    code, document = run_json(*arguments)

    assert (result.exit_code, code) == (2, 2)
    assert words in result.stderr
    assert words in document["error"]


def test_starting_imports_nothing_heavy() -> None:
    heavy = ["numpy", "ai_edge_litert", "tensorflow", "tflite_micro", "pytest", "serial", "jinja2"]
    script = (
        "import json, sys\n"
        "from pytest_autodeploy.cli import autodeploy\n"
        "autodeploy(['--help'], standalone_mode=False)\n"
        f"sys.exit(json.dumps([name for name in {heavy} if name in sys.modules]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", script],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert json.loads(done.stderr) == []


def test_a_pipe_without_unicode_gets_all_names(tmp_path: Path) -> None:
    (tmp_path / "模型.tflite").write_bytes(b"")
    done = subprocess.run(
        [*PROCESS, "inspect", "模型.tflite"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONIOENCODING": "latin-1"},
        capture_output=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 1
    assert rb"\u6a21\u578b.tflite is empty" in done.stdout


def test_a_reader_that_leaves_early_is_no_error() -> None:
    process = subprocess.Popen(
        [*PROCESS, "boards", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.close()

    _, err = process.communicate(timeout=60)

    assert b"Traceback" not in err
    assert b"Exception" not in err


def test_the_group_knows_all_its_commands() -> None:
    assert set(autodeploy.commands) == {command.name for command in COMMANDS}
