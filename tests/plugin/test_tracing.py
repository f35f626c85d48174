"""``--autodeploy-trace``: spans of every process of a run."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from docs.samples.trace_picture import picture
from pytest_autodeploy.base import trace
from tests.helpers.support import MODELS

DIGITS = MODELS / "digits_cnn.tflite"


def run(pytester: pytest.Pytester, *arguments: str, apart: bool = False) -> dict[str, Any]:
    """Run the built-in tests and give the trace."""
    start = pytester.runpytest_subprocess if apart else pytester.runpytest
    options = ("--autodeploy-power=off", "--tflite-runs=1", "--autodeploy-trace=made/trace.json")
    result = start("autodeploy", "--tflite", str(DIGITS), *options, *arguments)
    assert result.ret == 0, result.stdout.str()
    document: dict[str, Any] = json.loads((pytester.path / "made/trace.json").read_bytes())
    return document


def by_process(document: dict[str, Any]) -> dict[str, set[str]]:
    """The names of the spans of each process, forks left out."""
    events = document["traceEvents"]
    names = {each["pid"]: each["args"]["name"] for each in events if each["ph"] == "M"}
    spans: dict[str, set[str]] = {}
    for each in events:
        if each["ph"] == "X":
            spans.setdefault(names[each["pid"]], set()).add(each["name"])
    return spans


def test_every_process_has_spans_under_plain_names(pytester: pytest.Pytester) -> None:
    document = run(pytester)

    spans = by_process(document)
    board = {"start the process", "identify", "configure", "infer", "invoke", "profile"}
    assert {"collect", "set up", "flash", "configure", "invoke"} <= spans["pytest"]
    assert board <= spans["simulated board apollo4p_evb"]
    assert {"start the process", "prepare ref", "run xnnpack"} <= spans["PC side"]
    assert not trace.tracing()
    assert trace.FOLDER not in os.environ
    assert document["otherData"]["command"][:2] == ["pytest", "autodeploy"]


def test_the_picture_shows_every_process(pytester: pytest.Pytester) -> None:
    svg = picture(run(pytester, "-k", "outputs_agree"))

    for process in ("pytest", "simulated board apollo4p_evb", "PC side"):
        assert f">{process}<" in svg


@pytest.mark.slow  # it starts two pytests
def test_workers_of_xdist_have_spans_of_their_own(pytester: pytest.Pytester) -> None:
    spans = by_process(run(pytester, "-n1", apart=True))

    assert "configure" in spans["xdist worker gw0"]
    assert "write results" in spans["pytest"]
    assert "configure" not in spans["pytest"]


def test_a_file_that_cannot_be_written_is_told_before_the_run(pytester: pytest.Pytester) -> None:
    Path("there").mkdir()
    result = pytester.runpytest("--autodeploy-trace=there")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--autodeploy-trace: cannot write*there*"])
