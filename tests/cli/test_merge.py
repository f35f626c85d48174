"""``autodeploy merge``: shards of a suite as one run."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from pytest_autodeploy.metrics.ledger import Row
from pytest_autodeploy.metrics.record import RecordFiles, TestRecord
from pytest_autodeploy.metrics.result import Provenance, RunFacts
from pytest_autodeploy.report.results import ResultStore, write_result
from tests.helpers.cli_support import run, run_json
from tests.helpers.report_examples import AGREEMENT, BOARD, measurement, record, verdict

NOT_JUDGED = Row(
    "energy_limit", "energy_limit(uj=9)", "ini", "NOT JUDGED", "no meter", allowed=True
)


def shard(folder: Path, *records: TestRecord) -> Path:
    """The results folder that a run with these tests leaves."""
    store = ResultStore()
    for each in records:
        store.add(each)
    for result in store.results():
        write_result(result, folder, Provenance({}), RunFacts())
    return folder


def latency(us: float) -> TestRecord:
    return record("t.py::latency", measurements=(measurement("latency_median", us, "us"),))


def bare(nodeid: str, **changes: object) -> TestRecord:
    return record(nodeid, measurements=(), verdicts=(), **changes)


def test_shards_of_a_model_on_a_board_become_one_result(tmp_path: Path) -> None:
    arena = record("t.py::arena", measurements=(measurement("arena_used", 10, "B"),), profile=None)
    folders = shard(tmp_path / "one", latency(5)), shard(tmp_path / "two", arena)
    code, told = run_json("merge", *folders, "--out", tmp_path / "all")
    assert (code, told["models"], told["failed"], told["repeated"]) == (0, 1, [], [])

    (result,) = json.loads((tmp_path / "all" / "results.json").read_text())["results"]
    assert {each["name"] for each in result["measurements"]} == {"latency_median", "arena_used"}
    assert [test["nodeid"] for test in result["tests"]] == ["t.py::latency", "t.py::arena"]
    for path in (result["files"]["json"], result["files"]["csv"]):
        assert (tmp_path / "all" / path).exists()


def test_a_file_of_any_shard_is_linked(tmp_path: Path) -> None:
    made = RecordFiles(characterization="kws/kws_mc.json")
    folders = (
        shard(tmp_path / "one", record("t.py::a", files=made)),
        shard(tmp_path / "two", bare("t.py::b", profile=None)),
    )
    run("merge", *folders, "--out", tmp_path / "all")
    (result,) = json.loads((tmp_path / "all" / "results.json").read_text())["results"]
    assert result["files"]["characterization"] == "../one/kws/kws_mc.json"


def test_the_four_files_say_the_same(tmp_path: Path) -> None:
    broken = bare("t.py::b", outcome="failed", message="<b>it</b> failed", failure_class="other")
    folders = shard(tmp_path / "one", latency(5)), shard(tmp_path / "two", broken)
    assert run("merge", *folders, "--out", tmp_path / "all").exit_code == 1
    (suite,) = ElementTree.parse(tmp_path / "all" / "junit.xml").getroot()  # noqa: S314
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    failures = [each.get("message") for each in suite.iter("failure")]
    assert failures == ["<b>it</b> failed"]
    page = (tmp_path / "all" / "report.html").read_text()
    assert "&lt;b&gt;it&lt;/b&gt; failed" in page
    assert "<b>it</b> failed" not in page
    assert "t.py::b" in (tmp_path / "all" / "summary.md").read_text()


def test_an_agreement_that_failed_is_not_hidden_by_another_shard(tmp_path: Path) -> None:
    wrong = replace(AGREEMENT, passed=False)
    folders = (
        shard(tmp_path / "one", record("t.py::a", agreement=wrong)),
        shard(tmp_path / "two", record("t.py::b")),
    )
    run("merge", *folders, "--out", tmp_path / "all")
    (result,) = json.loads((tmp_path / "all" / "results.json").read_text())["results"]
    assert not result["agreement"]["passed"]


@pytest.mark.parametrize("judged_elsewhere", [True, False])
def test_a_limit_that_no_shard_judged_is_red(tmp_path: Path, judged_elsewhere: bool) -> None:
    judged = replace(NOT_JUDGED, status="pass", allowed=False)
    folders = (
        shard(tmp_path / "one", record("t.py::a", verdicts=(NOT_JUDGED,))),
        shard(
            tmp_path / "two",
            record("t.py::b", verdicts=(judged if judged_elsewhere else verdict(True),)),
        ),
    )
    result = run("merge", *folders, "--out", tmp_path / "all")
    assert result.exit_code == (0 if judged_elsewhere else 1)
    line = "NOT JUDGED t.py::a: energy_limit(uj=9) by ini was not judged"
    assert (line in result.stdout) != judged_elsewhere


def test_a_test_that_ran_in_two_shards_is_told(tmp_path: Path) -> None:
    folders = shard(tmp_path / "one", latency(5)), shard(tmp_path / "two", latency(6))
    result = run("merge", *folders, "--out", tmp_path / "all")
    assert result.exit_code == 0
    assert f"NOTE t.py::latency ran in {folders[0]} (passed) and {folders[1]} (passed)" in (
        result.stdout
    )


def test_equal_boards_with_other_serial_numbers_stay_apart(tmp_path: Path) -> None:
    one, two = (record("t.py::a", board=replace(BOARD, serial=each)) for each in ("17", "18"))
    folders = shard(tmp_path / "one", one), shard(tmp_path / "two", two)
    _, told = run_json("merge", *folders, "--out", tmp_path / "all")
    assert told["models"] == 2
    assert not told["repeated"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "has no result.json in it"),
        (b"{", "is no result"),
        (b'{"schema": 1}', "has schema 1"),
        (b"\xff", "cannot read"),
    ],
)
def test_what_is_no_shard_is_named(tmp_path: Path, content: bytes | None, words: str) -> None:
    folder = tmp_path / "one"
    folder.mkdir()
    if content is not None:
        (folder / "result.json").write_bytes(content)
    result = run("merge", folder, "--out", tmp_path / "all")
    assert result.exit_code == 1
    assert words in result.output
    assert not (tmp_path / "all").exists()
