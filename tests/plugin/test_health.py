"""What boards went through in a run is counted, whichever test it was and however it ended."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_autodeploy.baseline.history import History
from pytest_autodeploy.baseline.history_uses import BoardHealth
from tests.helpers.broken_boards import break_board


def health() -> BoardHealth:
    """Of the only board of the runs so far."""
    (found,) = History(Path("h.sqlite")).health()
    return found


def run(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    return pytester.runpytest(
        "--tflite=digits_cnn.tflite", "--autodeploy-history=h.sqlite", *arguments
    )


@pytest.mark.usefixtures("digits")
def test_a_run_without_trouble_counts_its_flash_and_nothing_else(pytester: pytest.Pytester) -> None:
    run(pytester).assert_outcomes(passed=5)
    found = health()
    assert (found.label, found.runs, found.flashes) == ("sim:apollo4p_evb", 1, 1)
    assert (found.breaks, found.retries, found.retransmissions) == (0, 0, 0)
    (path,) = Path.cwd().glob("autodeploy-results/*/*/result.json")
    boards: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["run"]["boards"]
    assert [(each["board"], each["flashes"]) for each in boards] == [("sim:apollo4p_evb", 1)]


@pytest.mark.usefixtures("digits")
def test_each_break_counts_once_and_so_does_each_flash_after_it(pytester: pytest.Pytester) -> None:
    break_board(pytester, "die@invoke")
    run(pytester, "--html=report.html").assert_outcomes(failed=2, errors=3)
    found = health()
    assert (found.breaks, found.broke_in) == (2, 1)
    assert found.flashes == 2
    assert "Health of 1 board over the history: 1 broke" in Path("report.html").read_text("utf-8")


@pytest.mark.slow
@pytest.mark.usefixtures("digits")
def test_breaks_of_earlier_attempts_count_too(pytester: pytest.Pytester) -> None:
    break_board(pytester, "die@invoke")
    outcomes = run(pytester, "-k", "latency", "--reruns=1").parseoutcomes()
    assert outcomes == {"failed": 1, "rerun": 1, "deselected": 4}
    assert health().breaks == 2


@pytest.mark.usefixtures("digits")
def test_requests_that_are_sent_again_count(pytester: pytest.Pytester) -> None:
    break_board(pytester, "garbage@infer#2")
    run(pytester, "-k", "outputs_agree", "--evb-timeout=15").assert_outcomes(passed=1, deselected=4)
    found = health()
    assert found.retransmissions >= 1
    assert found.breaks == 0
