"""What Allure and pytest-json-report get of a test, where they are loaded.

They are no part of the extra ``test``: pytest would load them in each of its inner runs.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

TEST = "autodeploy::test_latency[digits_cnn-sim:apollo4p_evb]"
RUN = ("--tflite=digits_cnn.tflite", "-k", "latency", "--tflite-latency-budget=ms=1")


def check(record: dict[str, Any]) -> None:
    """The record of a test whose latency is over its limit."""
    assert record["model"]["id"] == "digits_cnn"
    assert record["board"]["id"] == "sim:apollo4p_evb"
    assert {"latency_median"} <= {each["name"] for each in record["measurements"]}
    assert [(row["limit"], row["status"]) for row in record["verdicts"]] == [
        ("latency_budget(ms=1)", "FAIL")
    ]


@pytest.mark.parametrize("workers", [(), ("-n", "1")])
def test_allure_gets_plain_parameters_and_the_record(
    pytester: pytest.Pytester, digits: Path, workers: tuple[str, ...]
) -> None:
    pytest.importorskip("allure_pytest")
    pytester.runpytest_subprocess(*RUN, *workers, "--alluredir=al").assert_outcomes(failed=1)
    [result] = [json.loads(path.read_text()) for path in Path("al").glob("*-result.json")]
    assert [each["value"] for each in result["parameters"]] == ["digits_cnn", "'sim:apollo4p_evb'"]
    files = {each["name"]: Path("al", each["source"]) for each in result["attachments"]}
    check(json.loads(files["autodeploy.json"].read_text()))
    page = files["autodeploy.html"].read_text()
    assert page.startswith("<!doctype html>")
    assert "latency_budget(ms=1)" in page


@pytest.mark.parametrize("workers", [(), ("-n", "1")])
def test_the_json_report_has_the_record_of_each_test(
    pytester: pytest.Pytester, digits: Path, workers: tuple[str, ...]
) -> None:
    pytest.importorskip("pytest_jsonreport")
    arguments = (*RUN, *workers, "--json-report", "--json-report-file=report.json")
    pytester.runpytest_subprocess(*arguments).assert_outcomes(failed=1)
    [test] = json.loads(Path("report.json").read_text())["tests"]
    assert test["nodeid"] == TEST
    check(test["metadata"]["autodeploy"])
