"""The terminal's table of a run: short, readable in 80 columns, and as honest as the details."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pytest_autodeploy.base.measurement import Measurement
from pytest_autodeploy.metrics.comparison import Comparison, Row, State
from pytest_autodeploy.metrics.record import Attempt, TestRecord
from pytest_autodeploy.metrics.records.artifacts import ArtifactsRecord, OmissionRecord
from pytest_autodeploy.report.results import ResultStore
from pytest_autodeploy.report.sections import comparison_lines, sections
from tests.helpers.report_examples import (
    BOARD,
    MODEL,
    RECORD,
    measurement,
    record,
    setup_failure,
    verdict,
)

ENERGY = tuple(
    measurement(f"{name}_hp", 1234, unit, "measured")
    for name, unit in (("power_time", "us"), ("energy", "uJ"), ("power", "mW"))
)
STEP = measurement("output_distance", 1, "steps")


def compared(state: State = "within", worse: float = 1000) -> Comparison:
    row = Row(
        "latency_median", "us", "modelled", 320e3, 320e3 + worse, worse, 16e3, "percentage", state
    )
    return Comparison(state, "autodeploy-baselines/kws.json", (row,))


def run(models: int, boards: int, *, failing: int = 0, **changes: Any) -> list[TestRecord]:
    """Records of models on boards that measured all that a row shows; the first ones failed."""
    made = []
    for number in range(models * boards):
        model = replace(MODEL, id=f"model_{number // boards}_of_the_project")
        board = replace(BOARD, id=f"sim:apollo{('4p', '510', '4l')[number % boards]}_evb")
        whole: dict[str, Any] = {
            "model": model,
            "board": board,
            "measurements": (*RECORD.measurements, *ENERGY, STEP),
            "comparison": compared(),
        }
        each = record(f"test_it.py::test[{model.id}-{board.id}]", **whole | changes)
        if number < failing:
            each = replace(each, outcome="failed", message="too slow", verdicts=(verdict(False),))
            each = replace(each, failure_class="over a limit")
        made.append(each)
    return made


def shown(*records: TestRecord, verbosity: int = 0, width: int = 80) -> dict[str, list[str]]:
    """The sections by their titles, as a terminal of ``width`` columns has them."""
    store = ResultStore()
    for each in records:
        store.add(each)
    made = sections(store.results(), output="out", verbosity=verbosity, width=width)
    parts = dict(make() for make in made)
    alike = comparison_lines(store.results(), verbose=verbosity > 0)
    return {**parts, "baselines": alike} if alike else parts


def table(*records: TestRecord, width: int = 80) -> list[str]:
    return shown(*records, width=width)["models on boards"]


def count(parts: dict[str, list[str]]) -> int:
    """The lines of all sections with their titles."""
    return len(parts) + sum(map(len, parts.values()))


class TestRoom:
    def test_eighteen_results_that_pass_take_at_most_40_lines(self) -> None:
        assert count(shown(*run(9, 2))) <= 40

    def test_200_results_that_pass_take_little_more_than_a_line_each(self) -> None:
        assert count(shown(*run(100, 2))) <= 210

    def test_200_results_that_fail_say_what_failed_of_the_first(self) -> None:
        parts = shown(*run(100, 2, failing=200))
        assert count(parts) < 450
        assert "180 more results are red" in parts

    @pytest.mark.parametrize("boards", [1, 2, 3])
    def test_it_is_readable_in_80_columns(self, boards: int) -> None:
        assert max(map(len, table(*run(3, boards)))) <= 80

    def test_a_wide_terminal_has_board_and_source_beside_the_figures(self) -> None:
        lines = table(*run(1, 2), width=140)
        assert lines[0].split() == [
            *("Model", "Board", "Latency", "Energy", "Arena", "Agreement", "Change"),
            *("Source", "Verdict"),
        ]
        assert lines[1].split()[:2] == ["model_0_of_the_project", "sim:apollo4p_evb"]

    def test_a_narrow_one_has_the_boards_as_headings_with_their_source(self) -> None:
        lines = table(*run(2, 2))
        assert "sim:apollo4p_evb (simulated): modelled" in lines
        assert "Board" not in lines[0]

    def test_columns_that_nothing_fills_are_left_out(self) -> None:
        assert "Energy" not in table(record())[0]


class TestDetails:
    def test_what_passes_has_them_when_verbose_only(self) -> None:
        title = "kws_ref_model on sim:apollo4p_evb (simulated)"
        assert title not in shown(record())
        assert any(line.startswith("Ran on") for line in shown(record(), verbosity=1)[title])

    def test_what_fails_has_them_below_what_failed(self) -> None:
        (name,) = [title for title in shown(*run(2, 1, failing=1)) if title.startswith("model_0")]
        lines = shown(*run(2, 1, failing=1))[name]
        assert lines[:4] == [
            "FAILED test_it.py::test[model_0_of_the_project-sim:apollo4p_evb]",
            "  too slow",
            "FAIL  latency_budget(ms=400) by marker: latency median is 320.6 ms  modelled",
            "  in test_it.py::test[model_0_of_the_project-sim:apollo4p_evb]",
        ]
        assert any(line.startswith("Ran on") for line in lines)

    def test_quiet_shows_no_figures_but_those_of_the_table(self) -> None:
        parts = shown(*run(1, 1, failing=1), verbosity=-1)
        assert not any(line.startswith("Ran on") for lines in parts.values() for line in lines)
        assert any(line.startswith("FAIL ") for lines in parts.values() for line in lines)

    def test_a_limit_that_nothing_judged_names_metric_and_reason(self) -> None:
        row = replace(verdict(None), status="NOT JUDGED", measurement=None, text="no power meter")
        (lines,) = [
            lines for name, lines in shown(record(verdicts=(row,))).items() if " on sim" in name
        ]
        assert lines[0] == (
            "NOT JUDGED  latency_budget(ms=400) by marker: latency budget: no power meter"
        )

    def test_comparisons_that_end_alike_share_a_line(self) -> None:
        assert shown(*run(9, 2))["baselines"] == [
            "18 results: 1 metric within what its baseline allows"
        ]
        assert len(shown(*run(9, 2), verbosity=1)["baselines"]) == 18


class TestHonesty:
    def test_a_source_that_is_not_the_boards_is_tagged_and_explained(self) -> None:
        lines = table(*run(1, 1))
        assert "1.23 mJ mea" in lines[-3]
        assert lines[-2] == "Source of a figure where it is not the board's: mea = measured"

    def test_not_judged_is_no_pass(self) -> None:
        row = replace(verdict(None), status="NOT JUDGED", measurement=None)
        assert table(record(verdicts=(row,)))[-2].endswith("  NOT JUDGED")

    def test_what_another_test_judged_is_judged(self) -> None:
        row = replace(verdict(None), status="NOT JUDGED", measurement=None)
        skipped = record("b", outcome="skipped", verdicts=(row,))
        assert "NOT JUDGED" not in "\n".join(table(record("a"), skipped))

    def test_what_may_stay_unjudged_is_counted(self) -> None:
        row = replace(verdict(None), status="NOT JUDGED", measurement=None, allowed=True)
        assert table(record(verdicts=(row,)))[-2].endswith("  pass, 1 not judged")

    def test_a_test_that_needed_another_attempt_says_so(self) -> None:
        flaky = record(attempts=(Attempt("other", "the first try"),))
        lines = table(flaky)
        assert any(line.endswith("  pass, 2nd try") for line in lines)
        assert any(line.startswith("FLAKY test_kws.py::test_kws") for line in lines)

    def test_unstable_outputs_stand_in_the_verdict(self) -> None:
        failed = record(outcome="failed", failure_class="unstable", message="unstable: differs")
        assert any(line.endswith("  FAIL, unstable") for line in table(failed))

    def test_a_board_that_never_came_up_is_an_error(self) -> None:
        assert any(line.endswith("ERROR") for line in table(setup_failure()))

    def test_nothing_but_skips_is_no_pass(self) -> None:
        assert any(line.endswith("skipped") for line in table(record(outcome="skipped")))

    def test_faults_omissions_and_doubts_are_noted_once(self) -> None:
        odd = replace(BOARD, build_id="tflm 1, injected faults: slow", clock_doubt="HP missed")
        omitted = ArtifactsRecord(left_out=(OmissionRecord("binary", "no compiler"),))
        lines = table(*run(3, 1, board=odd, artifacts=omitted))
        assert [line for line in lines if line.startswith("NOTE")] == [
            "NOTE 3 results: injected faults: slow",
            "NOTE 3 results: HP missed",
            "NOTE 3 results: left out: binary: no compiler",
        ]

    @pytest.mark.parametrize(
        ("state", "worse", "words"),
        [
            ("regression", 40e3, "+12.5 %"),
            ("improved", -40e3, "-12.5 %"),
            ("cannot tell", 17e3, "cannot tell"),
            ("within", 0, "0"),
        ],
    )
    def test_the_change_to_the_baseline(self, state: State, worse: float, words: str) -> None:
        row = table(record(comparison=compared(state, worse)))[2]
        assert row.split("  ")[-2].strip() == words

    def test_low_power_is_named_with_the_board(self) -> None:
        low: tuple[Measurement, ...] = RECORD.measurements
        lines = table(record(board=replace(BOARD, clock="LP"), measurements=low))
        assert "sim:apollo4p_evb LP (simulated): modelled" in lines
