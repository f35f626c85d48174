"""Options of AutoDeploy are answered with ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_autodeploy.plugin.declarations import OLD_NAMES
from pytest_autodeploy.plugin.old_names import NEW
from pytest_autodeploy.settings.options import OPTIONS


def test_every_new_name_is_an_option() -> None:
    flags = {option.flag for option in OPTIONS} | {"--deselect"}
    for words in NEW.values():
        named = [word.partition("=")[0] for word in words.split() if word.startswith("--")]
        assert named or words.startswith("nothing: ")
        assert {name.strip(",;") for name in named} <= flags


def test_the_start_knows_all_of_them() -> None:
    assert set(OLD_NAMES.split()) == set(NEW)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--measure-power",), "--measure-power is *; here it is --autodeploy-power=joulescope"),
        (("--tflite-filename=kws.tflite",), "--tflite-filename is *; here it is --tflite=FILE"),
        (("--model-name", "kws"), "--model-name is *; here it is --autodeploy-name=NAME"),
        (("--reserve-sram-percent", "10"), "*here it is --evb-reserve=sram=10%,dtcm=8kb"),
        (("--no-create-binary",), "*--autodeploy-power-link=pins"),
    ],
)
def test_an_old_name_is_a_usage_error_that_says_the_new_one(
    pytester: pytest.Pytester, digits: Path, arguments: tuple[str, ...], words: str
) -> None:
    result = pytester.runpytest("--tflite", digits.name, *arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{words}*"])


def test_all_that_were_typed_are_answered_at_once(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest("--platform=apollo4p_evb", "--joulescope", "--run-log-id=1")
    for name in ("--platform", "--joulescope", "--run-log-id"):
        result.stderr.fnmatch_lines([f"*{name} is an option of AutoDeploy*"])


def test_an_option_of_that_name_of_a_conftest_or_plugin_is_left_alone(
    pytester: pytest.Pytester,
) -> None:
    pytester.makeconftest("def pytest_addoption(parser): parser.addoption('--platform')")
    pytester.makepyfile("def test_it(request): assert request.config.option.platform == 'x'")
    added = "def pytest_addoption(parser): parser.addoption('--dataset')"
    pytester.syspathinsert(pytester.makepyfile(other=added).parent)
    result = pytester.runpytest("-p", "other", "--dataset=x", "--platform", "x")
    result.assert_outcomes(passed=1)


def test_what_only_begins_like_one_is_pytests(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest("--ttymore")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "AutoDeploy" not in result.stderr.str()
