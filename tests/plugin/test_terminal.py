"""The summary on the terminal in real runs: its colours, and what asks for less of it."""

from __future__ import annotations

from pathlib import Path

import pytest

FITS = ("autodeploy::test_model_fits", "autodeploy::test_latency")
SLOW = ("--tflite-latency-budget", "us=1")
RED, GREEN, BLUE = "\x1b[31m", "\x1b[32m", "\x1b[34m"


def run(pytester: pytest.Pytester, digits: Path, *arguments: str) -> pytest.RunResult:
    return pytester.runpytest(*FITS, "--tflite", digits.name, *arguments)


def test_what_passes_is_a_row(pytester: pytest.Pytester, digits: Path) -> None:
    result = run(pytester, digits)
    result.stdout.fnmatch_lines(
        [
            "=* autodeploy: models on boards =*",
            "Model *Board *Latency *Arena *Source *Verdict",
            "digits_cnn  sim:apollo4p_evb * ms *KB  modelled  pass",
            "Results: autodeploy-results/",
        ]
    )
    assert "Ran on" not in result.stdout.str()


def test_verdicts_and_sources_have_colours_where_they_are_asked_for(
    pytester: pytest.Pytester, digits: Path
) -> None:
    coloured = run(pytester, digits, "--color=yes").stdout.str()
    assert f"{GREEN}pass" in coloured
    assert f"{BLUE}modelled" in coloured
    failed = run(pytester, digits, "--color=yes", *SLOW).stdout.str()
    assert f"{RED}\x1b[1mFAIL" in failed
    assert "\x1b[" not in run(pytester, digits, "--color=no", *SLOW).stdout.str()


def test_quiet_has_the_row_and_what_failed(pytester: pytest.Pytester, digits: Path) -> None:
    result = run(pytester, digits, "-q", *SLOW)
    result.stdout.fnmatch_lines(["digits_cnn *  FAIL", "FAIL  latency_budget(us=1) by *"])
    assert "Ran on" not in result.stdout.str()


def test_no_summary_is_none_but_for_what_went_wrong(
    pytester: pytest.Pytester, digits: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = run(pytester, digits, "--no-summary")
    assert "autodeploy: models" not in result.stdout.str()

    def broken(*_args: object) -> str:
        raise OSError("no room left")

    monkeypatch.setattr("pytest_autodeploy.report.results.json_text", broken)
    result = run(pytester, digits, "--no-summary")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["ERROR: *no room left*"])
