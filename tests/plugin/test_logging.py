"""The package logs what it decides and does; pytest shows it with --log-cli-level."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

import pytest

from pytest_autodeploy.base.process import run_tool


def test_a_run_logs_boards_calls_and_decisions(pytester: pytest.Pytester, digits: Path) -> None:
    chosen = ("-k", "fits", "--log-cli-level", "DEBUG")
    result = pytester.runpytest("--tflite", digits.name, *chosen)
    result.assert_outcomes(passed=1, deselected=4)
    result.stdout.fnmatch_lines(
        [
            "DEBUG *pytest_autodeploy.board.select:*sim:apollo4p_evb is a simulated board*",
            "DEBUG *pytest_autodeploy.base.process:*started *pytest_autodeploy.sim *",
            "DEBUG *pytest_autodeploy.rpc.exchange:*sim:apollo4p_evb: identify, requests: 1*",
            "DEBUG *pytest_autodeploy.rpc.exchange:*sim:apollo4p_evb: configure, requests: 1*",
            "DEBUG *pytest_autodeploy.session.arena_search:*an arena of * bytes runs",
        ]
    )


def test_without_it_nothing_is_said(pytester: pytest.Pytester, digits: Path) -> None:
    result = pytester.runpytest("--tflite", digits.name, "-k", "fits")
    assert "DEBUG" not in result.stdout.str() + result.stderr.str()


def test_commands_are_logged_as_a_shell_would_take_them(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "pytest_autodeploy"):
        run_tool([sys.executable, "-c", "print('a b')"], timeout_s=30)
    assert """-c 'print('"'"'a b'"'"')', for 30 s at most""" in caplog.messages[0]
    assert caplog.messages[1].endswith("ended with 0")
