"""What README and the pages show can be typed, and does what they say."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from docs.samples import make as real_runs
from pytest_autodeploy.cli import autodeploy
from pytest_autodeploy.limits.declarations import DECLARATIONS
from pytest_autodeploy.plugin.old_names import NEW
from pytest_autodeploy.settings.options import OPTIONS
from pytest_autodeploy.settings.settings import resolve
from tests.helpers.pages import README, ROOT, Sample, pages, samples
from tests.helpers.rigs import write_rig
from tests.helpers.support import MODELS

PYTHON = samples("python")
TESTS = [each for each in PYTHON if "def test_" in each.text]
SHELL = samples("", "sh", "yaml", "groovy")
COMMANDS = sorted({command for each in SHELL for command in each.commands()})

RUN = ("README_", "docs_how_to_own_tests_")
"""Samples that need nothing but their model; the others need labels, a baseline or a meter."""


@pytest.fixture
def project(pytester: pytest.Pytester) -> Path:
    """A folder in which every sample is a test file, with the models that they name."""
    models = pytester.mkdir("models")
    for name in ("digits_cnn.tflite", "digits_test.npz", "digits_test_labels.npy"):
        shutil.copy(MODELS / name, models)
    shutil.copy(MODELS / "kws_ds_cnn.tflite", models / "kws.tflite")
    shutil.copy(MODELS / "kws_ds_cnn.tflite", models / "kws_float.tflite")
    for sample in TESTS:
        text = f"import pytest\n{sample.text}"
        Path(f"test_{sample.name}.py").write_text(text, encoding="utf-8")
    return pytester.path


@pytest.mark.parametrize("sample", PYTHON, ids=lambda sample: str(sample.name))
def test_python_compiles(sample: Sample) -> None:
    compile(sample.text, sample.name, "exec")


def test_the_tests_that_are_shown_are_collected(pytester: pytest.Pytester, project: Path) -> None:
    data = (
        "--tflite-inputs=models/digits_test.npz",
        "--tflite-labels=models/digits_test_labels.npy",
    )
    model = ("--tflite=models/kws.tflite", "--tflite-no-suite")
    result = pytester.runpytest("--collect-only", "-q", "-W", "error", *model, *data)

    assert result.ret == 0, result.stdout.str()
    for sample in TESTS:
        assert f"test_{sample.name}.py::test_" in result.stdout.str()


def test_those_that_need_nothing_else_pass(pytester: pytest.Pytester, project: Path) -> None:
    files = [f"test_{each.name}.py" for each in TESTS if each.name.startswith(RUN)]
    model = ("--tflite=models/kws.tflite", "--tflite-no-suite")
    pytester.runpytest(*files, *model).assert_outcomes(passed=len(files))
    assert len(files) == 4


@pytest.mark.parametrize("name", real_runs.SAMPLES)
def test_what_is_shown_of_a_run_is_what_it_prints(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")  # a job must show what a terminal does
    monkeypatch.setenv("FORCE_COLOR", "1")
    if name != "example":
        real_runs.prepare(tmp_path)
    kept = (real_runs.HERE / f"{name}.txt").read_text(encoding="utf-8")
    assert real_runs.make(name, tmp_path) == kept, "run 'make samples'"


@pytest.mark.parametrize(("program", "rest"), COMMANDS)
def test_a_command_line_is_understood(
    pytester: pytest.Pytester, tmp_path: Path, program: str, rest: str
) -> None:
    rig = write_rig(tmp_path / "rig.toml", {"lab3-a": "/dev/lab3-a"}, "apollo4p_evb")
    arguments = shlex.split(rest.replace("/etc/autodeploy/rig.toml", str(rig)))
    if program == "pytest":
        config = pytester.parseconfig(*(each for each in arguments if "::" not in each))
        resolve(OPTIONS, config.getoption, config.getini, Path.cwd())
    else:
        command = autodeploy.commands[arguments[0]]
        if command.name == "baseline":
            command = getattr(command, "commands")[arguments[1].rstrip(",")]  # noqa: B009
        known = {name for each in command.params for name in each.opts}
        typed = {each.partition("=")[0] for each in arguments if each.startswith("--")}
        assert typed <= known


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_options_and_ini_keys_that_are_named_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    flags = {option.flag for option in OPTIONS} | set(NEW)  # old names, on a page about them
    named = set(re.findall(r"--(?:tflite|evb|autodeploy)[a-z-]*[a-z](?!\w)", text))
    assert named <= flags
    keys = {option.ini_name for option in OPTIONS} | {"autodeploy_artifacts"}
    assert set(re.findall(r"^(autodeploy_\w+) = ", text, re.MULTILINE)) <= keys


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:|#)([^)#\s]+)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_the_readme_is_short_and_has_every_built_in_test() -> None:
    text = README.read_text(encoding="utf-8")
    source = ROOT / "pytest_autodeploy" / "plugin" / "suite" / "builtin.py"
    tests = set(re.findall(r"^def (test_\w+)", source.read_text(encoding="utf-8"), re.MULTILINE))

    assert len(text.splitlines()) <= 150
    assert set(re.findall(r"^\| `(test_\w+)` \|", text, re.MULTILINE)) == tests - {
        "test_artifacts_from"
    }
    assert {each.flag for each in DECLARATIONS} - {"--tflite-no-regression"} <= set(
        re.findall(r"--tflite-[a-z-]+", text)
    )


def test_the_table_of_markers_has_every_limit_with_its_own_keywords() -> None:
    page = ROOT / "docs" / "how-to" / "own-tests.md"
    rows = re.findall(r"`(\w+)\(([^`]*)\)`", page.read_text(encoding="utf-8"))
    keywords = {name: set(re.findall(r"(\w+)=", words)) for name, words in rows}
    for declaration in DECLARATIONS:
        assert keywords[declaration.name] <= set(declaration.keywords), declaration.name


def test_ci_retries_what_the_gate_retries() -> None:
    gate = (ROOT / "examples" / "regression_gate" / "README.md").read_text(encoding="utf-8")
    page = (ROOT / "docs" / "how-to" / "ci.md").read_text(encoding="utf-8")
    assert re.findall(r"--only-rerun '(.*?)'", page) == re.findall(r"--only-rerun '(.*?)'", gate)
