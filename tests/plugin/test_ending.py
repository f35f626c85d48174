"""The end of a run: every part is written and shown on its own, whatever breaks another."""

from __future__ import annotations

import os
import shutil
import sqlite3
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest

from pytest_autodeploy.metrics.records.facts import BoardFacts
from tests.helpers.support import DIGITS

NOT_UTF8 = b"\xff.tflite"
WRITERS = (
    *("--html", "report.html", "--junitxml", "junit.xml"),
    *("--autodeploy-summary", "summary.md", "--autodeploy-history", "history.sqlite"),
    "--autodeploy-update-baseline",
)
LATENCY = ("--tflite", "digits_cnn.tflite", "-v", "-k", "latency", *WRITERS)
ALL = {
    *("section", "results", "baselines", "history", "summary", "properties"),
    *("table", "cards", "cells", "details", "trends"),
}

_made: dict[str, bytes] = {}


@pytest.fixture
def history(pytester: pytest.Pytester, digits: Path) -> Path:
    """A history with one real run, made once, so that the next run has a trend."""
    path = Path("history.sqlite").absolute()
    if not _made:
        pytester.runpytest(
            *("--tflite", digits.name, "-k", "latency", "--autodeploy-history", path.name)
        )
        shutil.rmtree("autodeploy-results")  # what a test finds has to be of its own run
        with sqlite3.connect(path) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        _made["history"] = path.read_bytes()
    for left in Path().glob("history.sqlite-*"):
        left.unlink()
    path.write_bytes(_made["history"])
    return path


def made(result: pytest.RunResult) -> set[str]:
    """The parts that a run has left behind."""
    page = Path("report.html").read_text(encoding="utf-8")
    junit = Path("junit.xml").read_text(encoding="utf-8")
    there = {
        "section": "= autodeploy: digits_cnn" in result.stdout.str(),
        "results": any(Path("autodeploy-results").glob("*/*/result.json")),
        "baselines": any(Path("autodeploy-baselines").glob("*/*.json")),
        "history": runs_of("history.sqlite") == 2,
        "summary": Path("summary.md").is_file(),
        "properties": "autodeploy.latency_median_us" in junit,
        "table": "Models on boards" in page,
        "cells": "col-latency" in page,
        "details": "Figures of " in page,
        "cards": "Key figures" in page,
        "trends": "Trend of digits_cnn" in page,
    }
    return {name for name, made in there.items() if made}


def runs_of(path: str) -> int:
    """How many runs a history has; none when it is damaged."""
    try:
        with sqlite3.connect(path) as connection:
            return int(connection.execute("SELECT count(*) FROM runs").fetchone()[0])
    except sqlite3.Error:
        return 0


@pytest.mark.usefixtures("history")
def test_all_parts_are_there_when_nothing_breaks(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest(*LATENCY)
    assert result.ret == 0
    assert made(result) == ALL


BREAK = [
    ("section", "report.sections.summary_lines", "a section of the terminal's summary"),
    (
        "results",
        "report.results.json_text",
        "the result file digits_cnn/sim_apollo4p_evb/result.json",
    ),
    ("baselines", "baseline.kept.update_baselines", "the update of the baselines"),
    ("history", "baseline.kept.current_commit", "the history"),
    ("summary", "report.summary_file.summary_markdown", "the summary"),
    ("properties", "report.junit.properties", "the JUnit properties of autodeploy::test_latency*"),
    ("table", "report.html_table.summary_html", "the table of the run in the HTML report"),
    (
        "cells",
        "report.html_cells.columns",
        "the cells of autodeploy::test_latency* in the HTML report",
    ),
    (
        "details",
        "report.row_html.row_html",
        "the details in the HTML report of autodeploy::test_lat*",
    ),
    ("cards", "report.cards.cards_html", "the cards of the run in the HTML report"),
    ("trends", "report.history_html.trends_html", "the trends in the HTML report"),
]


@pytest.mark.usefixtures("history")
@pytest.mark.parametrize(("part", "function", "words"), BREAK, ids=[part for part, *_ in BREAK])
def test_a_part_that_breaks_is_one_error_and_takes_no_other_with_it(
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    part: str,
    function: str,
    words: str,
) -> None:
    def broken(*_arguments: object, **_options: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr(f"pytest_autodeploy.{function}", broken)
    result = pytester.runpytest(*LATENCY)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=1, deselected=4)
    result.stdout.fnmatch_lines([f"ERROR: {words} could not be made: RuntimeError: boom (*.py:*)"])
    assert result.stdout.str().count("ERROR: ") == 1
    # with one run in the history there is no trend
    assert made(result) == ALL - {part} - ({"trends"} if part == "history" else set())


def test_one_result_that_cannot_be_written_takes_no_other_model_with_it(
    pytester: pytest.Pytester, digits: Path
) -> None:
    digits.rename("a.tflite")
    Path("b.tflite").write_bytes(Path("a.tflite").read_bytes())
    folder = Path("autodeploy-results", "a")
    folder.mkdir(parents=True)
    (folder / "sim_apollo4p_evb").write_text("not a folder")
    result = pytester.runpytest("--tflite", "a.tflite", "--tflite", "b.tflite", "-k", "fits")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["ERROR: cannot write *result.json: *"])
    assert Path("autodeploy-results", "b", "sim_apollo4p_evb", "result.json").is_file()


def broken_facts(_session: object) -> BoardFacts:
    raise RuntimeError("boom")


def facts_of_another_type(_session: object) -> BoardFacts:
    return BoardFacts("sim:apollo4p_evb", clock_hz=cast(int, "fast"))


@pytest.mark.parametrize(
    ("broken", "says"),
    [(broken_facts, "boom (*)"), (facts_of_another_type, "Expected `int | float | null`*")],
)
def test_a_test_without_a_record_fails_the_run_and_keeps_its_baseline(
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    digits: Path,
    broken: Callable[[object], BoardFacts],
    says: str,
) -> None:
    """Its failure would not be known: what the other tests measured is not the whole."""
    pytester.runpytest("--tflite", digits.name, "-k", "fits")
    monkeypatch.setattr("pytest_autodeploy.metrics.record_parts.board_facts", broken)
    result = pytester.runpytest("--tflite", digits.name, "-k", "fits", *WRITERS)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines([f"ERROR: the record of autodeploy::test_model_fits*{says}"])
    assert not Path("autodeploy-baselines").exists()


def test_a_failure_without_a_record_is_still_a_failure(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, digits: Path
) -> None:
    monkeypatch.setattr("pytest_autodeploy.metrics.record_parts.board_facts", broken_facts)
    result = pytester.runpytest(
        *("--tflite", digits.name, "-k", "fits", "--tflite-memory-limit", "arena_kb=1")
    )
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(failed=1, deselected=4)
    result.stdout.fnmatch_lines(["ERROR: the record of autodeploy::test_model_fits*boom (*)"])


class TestHistory:
    """What another program did to the history between the start and the end of a run."""

    @pytest.mark.parametrize(
        ("change", "says"),
        [
            ("path.write_bytes(b'not a database' * 99)", "history *: file is not a database"),
            (
                "sqlite3.connect(path, isolation_level=None)"
                ".execute(\"UPDATE metric_values SET value = 'abc'\")",
                "history *: a run of * has values that none can have",
            ),
        ],
    )
    def test_it_takes_nothing_with_it(
        self, pytester: pytest.Pytester, history: Path, change: str, says: str
    ) -> None:
        pytester.makeconftest(
            "import sqlite3\nfrom pathlib import Path\nimport pytest\n"
            "@pytest.fixture(scope='session')\ndef evb_options():\n    yield {}\n"
            f"    path = Path({str(history)!r})\n    {change}\n"
        )
        result = pytester.runpytest(*LATENCY)
        assert result.ret == pytest.ExitCode.TESTS_FAILED
        result.stdout.fnmatch_lines([f"ERROR: {says}"])
        assert "ERROR: " in Path("report.html").read_text(encoding="utf-8")
        assert made(result) >= ALL - {"history", "trends"}


class TestNameThatIsNotUtf8:
    """Linux allows any bytes in names of files; what is written of them is UTF-8."""

    @pytest.fixture(autouse=True)
    def _model(self, pytester: pytest.Pytester) -> None:
        try:
            (pytester.path / os.fsdecode(NOT_UTF8)).write_bytes(DIGITS.read_bytes())
        except OSError:
            pytest.skip("this file system has no such names")

    @pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["serial", "xdist"])
    @pytest.mark.slow
    def test_it_is_reported_everywhere(
        self, pytester: pytest.Pytester, workers: tuple[str, ...]
    ) -> None:
        result = pytester.runpytest_subprocess("--tflite", ".", "-k", "latency", *WRITERS, *workers)
        assert result.ret == 0
        assert made(result) >= {"results", "baselines", "summary", "properties", "table", "details"}
        assert runs_of("history.sqlite") == 1
        assert r"\udcff.tflite" in Path("report.html").read_text(encoding="utf-8")

    @pytest.mark.slow
    def test_it_may_be_named_on_the_command_line(self, pytester: pytest.Pytester) -> None:
        result = pytester.runpytest_subprocess("--tflite", os.fsdecode(NOT_UTF8), *WRITERS)
        assert result.ret == 0
        again = pytester.runpytest_subprocess("--tflite", os.fsdecode(NOT_UTF8), *WRITERS)
        again.stdout.fnmatch_lines(["*on sim:apollo4p_evb: unchanged"])
        assert runs_of("history.sqlite") == 2

    def test_a_damaged_one_is_an_error_that_every_report_has(
        self, pytester: pytest.Pytester
    ) -> None:
        Path(os.fsdecode(NOT_UTF8)).write_bytes(b"no model")
        result = pytester.runpytest("--tflite", ".", "-k", "fits", *WRITERS[:4])
        result.assert_outcomes(errors=1, deselected=4)
        junit = ET.parse("junit.xml")  # noqa: S314  # made by the line above
        (error,) = junit.getroot().iter("error")
        assert r"\udcff.tflite" in str(error.get("message")) + str(error.text)
        assert r"\\udcff.tflite" in Path("report.html").read_text(encoding="utf-8")
