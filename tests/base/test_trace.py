"""Spans of what processes do, and the one document of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_autodeploy.base import trace
from pytest_autodeploy.base.process import Child, run_tool

CHILD = """
from pytest_autodeploy.base import trace
trace.join("a child")
with trace.span("work", part=1):
    pass
"""


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder that this process is traced into."""
    trace.begin(tmp_path, "the first")
    yield tmp_path
    trace.end()


def spans(folder: Path) -> dict[str, dict[str, Any]]:
    """The spans of a trace by name."""
    events = trace.collect(folder)["traceEvents"]
    return {event["name"]: event for event in events if event["ph"] == "X"}


def test_what_is_not_traced_writes_nothing(tmp_path: Path) -> None:
    with trace.span("build"):
        pass

    assert not trace.tracing()
    assert trace.of_child() == {}
    assert trace.collect(tmp_path)["traceEvents"] == []


def test_a_span_lies_within_the_one_around_it(folder: Path) -> None:
    with trace.span("outer"), trace.span("inner", model="kws"):
        pass

    found = spans(folder)
    outer, inner = found["outer"], found["inner"]
    assert outer["ts"] <= inner["ts"]
    assert inner["ts"] + inner["dur"] <= outer["ts"] + outer["dur"] + 0.002
    assert inner["args"] == {"model": "kws"}
    assert (inner["pid"], inner["tid"]) == (os.getpid(), outer["tid"])


def test_what_raises_is_traced_to_its_end(folder: Path) -> None:
    with pytest.raises(ValueError, match="no"), trace.span("fails"):
        raise ValueError("no")

    assert "fails" in spans(folder)


def test_a_child_joins_with_the_time_of_its_start(folder: Path) -> None:
    child = Child([sys.executable, "-c", CHILD], own_group=False)
    assert child.end(30) is not None
    child.close()

    events = trace.collect(folder)["traceEvents"]
    names = {event["args"]["name"]: event["pid"] for event in events if event["ph"] == "M"}
    found = spans(folder)
    assert set(names) == {"the first", "a child"}
    assert found["work"]["pid"] == found["start the process"]["pid"] == names["a child"]


def test_a_tool_that_runs_is_a_span(folder: Path) -> None:
    run_tool([sys.executable, "-c", "pass"], timeout_s=30)

    assert Path(sys.executable).name in spans(folder)


def test_a_forked_child_does_not_write_into_its_parents_file(folder: Path) -> None:
    child = os.fork()
    if child == 0:
        with trace.span("of the fork"):
            pass
        os._exit(0)
    os.waitpid(child, 0)
    with trace.span("of the parent"):
        pass

    found = spans(folder)
    assert (found["of the fork"]["pid"], found["of the parent"]["pid"]) == (child, os.getpid())


def test_half_a_line_of_a_killed_process_spoils_nothing(folder: Path) -> None:
    with trace.span("whole"):
        pass
    (folder / "1-1.trace").write_bytes(b'{"ph": "M", "name": "process_na')

    assert list(spans(folder)) == ["whole"]


def test_nobody_joins_a_trace_that_is_over(tmp_path: Path) -> None:
    gone = {**os.environ, trace.FOLDER: str(tmp_path / "gone")}
    done = subprocess.run([sys.executable, "-c", CHILD], env=gone, capture_output=True, check=False)

    assert (done.returncode, done.stderr) == (0, b"")


def test_the_document_is_plain_json_that_begins_at_0(folder: Path) -> None:
    with trace.span("first"):
        pass
    document = json.loads(json.dumps(trace.collect(folder)))

    assert min(event.get("ts", 0.0) for event in document["traceEvents"]) == 0.0
