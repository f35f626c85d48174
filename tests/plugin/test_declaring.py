"""What pytest is told at its start is kept in a file; it is what the declarations say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pytest_autodeploy.plugin.declarations import FILE, HEADINGS, marker_names
from pytest_autodeploy.plugin.derived import text
from pytest_autodeploy.settings.options import OPTIONS

SCRIPT = """
import sys
import pytest

code = pytest.main(sys.argv[1:])
print("loaded", *sorted(name for name in sys.modules if name.startswith("pytest_autodeploy.")))
sys.exit(code)
"""
AT_THE_START = {
    "plugin",
    *(f"plugin.{name}" for name in ("declarations", "fixtures", "start", "state")),
}
AT_THE_END = {
    *("base", "base.error_text", "base.errors", "base.exhausted", "base.text"),
    *(f"plugin.{name}" for name in ("end", "gathered", "html_report", "problems", "terminal")),
}


def loaded(folder: Path, *arguments: str) -> set[str]:
    """The modules of the plugin that a run of pytest loads."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode in (0, pytest.ExitCode.NO_TESTS_COLLECTED), done.stdout
    words = done.stdout.splitlines()[-1].split()[1:]
    return {word.removeprefix("pytest_autodeploy.") for word in words}


def test_what_is_kept_is_what_the_declarations_say() -> None:
    assert FILE.read_text(encoding="utf-8") == text(), "run 'make derived'"
    assert {"tflite", "evb", "latency_budget", "no_regression"} <= marker_names()


def test_help_has_four_groups_and_says_as_much_of_ini_keys(pytester: pytest.Pytester) -> None:
    help_text = pytester.runpytest("--help", "-q").stdout.str()
    words = " ".join(help_text.split())

    assert [
        text for text in help_text.splitlines() if text.startswith("TensorFlow Lite models")
    ] == [f"{heading}:" for heading in HEADINGS.values()]
    for option in OPTIONS:
        if option.ini:
            said, _, _ = option.help.replace(" Repeatable", "\0").partition("\0")
            entry = words.partition(f" {option.ini_name} ({option.ini}):")[2]
            assert "".join(entry.split()).startswith("".join(said.split())), option.ini_name


def test_limits_stand_with_measuring_and_boards_with_boards() -> None:
    groups = {option.flag: option.group for option in OPTIONS}

    assert {option.group for option in OPTIONS if option.limit} == {"measuring"}
    assert {group for flag, group in groups.items() if flag.startswith("--evb")} == {"boards"}
    assert {group for flag, group in groups.items() if flag.startswith("--tflite")} == {
        "models",
        "measuring",
    }
    assert groups["--tflite"] == groups["--autodeploy-name"] == "models"
    assert groups["--autodeploy-power"] == "measuring"
    assert groups["--autodeploy-output"] == groups["--autodeploy-compare"] == "results"


def test_only_the_fixtures_of_users_are_listed(pytester: pytest.Pytester) -> None:
    listed = pytester.runpytest("--fixtures").stdout.str()

    assert "model_session [session scope]" in listed
    assert "Internal" not in listed


def test_a_folder_without_tests_loads_next_to_nothing(tmp_path: Path) -> None:
    assert loaded(tmp_path, "--collect-only") == AT_THE_START


@pytest.mark.slow
def test_a_run_of_tests_of_others_loads_next_to_nothing(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("def test_it(tmp_path): pass\n", encoding="utf-8")
    assert loaded(tmp_path) == AT_THE_START | AT_THE_END
