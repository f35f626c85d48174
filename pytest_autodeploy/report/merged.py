"""The files of merged results: one JSON, JUnit, Markdown and HTML of many runs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

from pytest_autodeploy.base.files import write_bytes
from pytest_autodeploy.base.json_text import indented
from pytest_autodeploy.base.text import lines, one_line
from pytest_autodeploy.metrics.result import OutcomeRecord, Result
from pytest_autodeploy.report.junit import properties
from pytest_autodeploy.report.markdown import summary_markdown
from pytest_autodeploy.report.merged_page import merged_html
from pytest_autodeploy.report.result_json import json_text
from pytest_autodeploy.report.shards import Merged
from pytest_autodeploy.report.whole import whole_record

_JUNIT = {"failed": "failure", "error": "error", "skipped": "skipped", "xfailed": "skipped"}
"""The element that says how a test ended, none of one that passed."""


def write_merged(merged: Merged, out: Path) -> list[Path]:
    """Write ``results.json``, ``junit.xml``, ``summary.md`` and ``report.html`` and list them.

    Raises ResultsError.
    """
    contents = {
        "results.json": merged_json(merged),
        "junit.xml": merged_junit(merged.results),
        "summary.md": summary_markdown(merged.results, [], [*merged.red, *merged.repeated]),
        "report.html": merged_html(merged),
    }
    for name, text in contents.items():
        write_bytes(out / name, text.encode("utf-8", "backslashreplace"))
    return [out / name for name in contents]


def merged_json(merged: Merged) -> str:
    """``results`` in the form of ``result.json``, the ``shards``, and what is told of them."""
    plain = {
        "schema": 2,
        "shards": [str(shard.folder) for shard in merged.shards],
        "not_judged": merged.red,
        "repeated": list(merged.repeated),
        "results": [json.loads(json_text(result)) for result in merged.results],
    }
    return indented(plain, 2) + "\n"


def merged_junit(results: Sequence[Result]) -> str:
    """A test suite for each model on a board, with the same properties as a test has."""
    root = ElementTree.Element("testsuites", name="pytest-autodeploy")
    for result in results:
        name = one_line(f"{result.model.id} on {result.board.id or 'no board'}")
        suite = ElementTree.SubElement(root, "testsuite", name=name, tests=str(len(result.tests)))
        for what in ("failure", "error", "skipped"):
            count = sum(_JUNIT.get(test.outcome) == what for test in result.tests)
            suite.set(what if what == "skipped" else f"{what}s", str(count))
        held = ElementTree.SubElement(suite, "properties")
        for key, value in properties(whole_record(result, [])):
            ElementTree.SubElement(held, "property", name=key, value=str(value))
        for test in result.tests:
            _case(suite, test)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _case(suite: ElementTree.Element, test: OutcomeRecord) -> None:
    file, _, name = one_line(test.nodeid).partition("::")
    case = ElementTree.SubElement(suite, "testcase", classname=file, name=name or file)
    if what := _JUNIT.get(test.outcome):
        ElementTree.SubElement(case, what, message=one_line(test.message)).text = lines(
            test.message
        )
