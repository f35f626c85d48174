"""Cells, details and summary for pytest-html; also in a real report, and in a real browser."""

from __future__ import annotations

import csv
import importlib.metadata
import io
import json
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from pytest_autodeploy.metrics.record import TestRecord, to_plain
from pytest_autodeploy.metrics.records.facts import NO_BOARD, ModelFacts, StaticLayer
from pytest_autodeploy.metrics.result import Result
from pytest_autodeploy.profile.layer_csv import csv_text
from pytest_autodeploy.profile.records import Layer
from pytest_autodeploy.report.html import extra_html
from pytest_autodeploy.report.html_cells import columns, header_cells, id_cell
from pytest_autodeploy.report.html_table import MOST_ROWS, summary_html
from pytest_autodeploy.report.pack import unpack
from pytest_autodeploy.report.results import ResultStore
from tests.helpers.report_examples import (
    ACCURACY,
    AGREEMENT,
    BOARD,
    MODEL,
    measurement,
    profile,
    record,
    setup_failure,
    verdict,
)

EVIL = "<img src=x onerror=alert(1)>'\"</title></style><script>alert(1)</script>"
VOID = {"rect", "img", "br", "hr", "meta", "link", "input", "source"}
BROWSER = shutil.which("chromium") or shutil.which("google-chrome")

CONFTEST = """
import json, pathlib, pytest
from pytest_autodeploy.metrics.record import from_plain
from pytest_autodeploy.report import html, html_cells, html_table
from pytest_autodeploy.report.results import ResultStore

RECORDS = json.loads(pathlib.Path(__file__).with_name("records.json").read_text("utf-8"))
STORE = ResultStore()

@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    record = RECORDS.get(item.name)
    if record and (report.when == "call" or report.failed):
        report.record = record
        content = html.extra_html(from_plain(record))
        report.extras = [
            {"name": None, "format_type": "html", "content": content,
             "mime_type": None, "extension": None}
        ]
    return report

def pytest_runtest_logreport(report):
    if hasattr(report, "record"):
        STORE.add(from_plain(report.record))

def pytest_html_results_table_header(cells):
    cells[2:2] = html_cells.header_cells()

def pytest_html_results_table_row(report, cells):
    plain = getattr(report, "record", None)
    cells[2:2] = html_cells.columns(from_plain(plain) if plain else None)

def pytest_html_results_summary(summary):
    summary.append(html_table.summary_html(STORE.results()))
"""

TESTS = """
import pytest

def test_kws(): pass

@pytest.fixture
def board(): raise RuntimeError("no answer")

def test_dead(board): pass

def test_flaky(tries=[]):
    tries.append(1)
    assert len(tries) == 2

def test_other(): pass
"""


class Page(HTMLParser):
    """What a browser would make of the markup: elements, attributes and text."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(markup)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def tags(self) -> set[str]:
        return {tag for tag, _ in self.elements}

    def tagged(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.elements if tag == name]

    def link(self) -> dict[str, str | None]:
        return self.tagged("a")[0]


def results(*records: TestRecord) -> list[Result]:
    store = ResultStore()
    for each in records:
        store.add(each)
    return store.results()


def evil_record(nodeid: str = "test_kws.py::test_kws") -> TestRecord:
    layer, *others = profile().layers
    worst = replace(AGREEMENT.outputs[0], name=EVIL)
    return record(
        nodeid,
        message=EVIL,
        model=replace(MODEL, id=EVIL, name=EVIL, path=EVIL, unknown_operators=(EVIL,), macs=None),
        board=replace(BOARD, id=EVIL, core=EVIL, engine=EVIL, kind=EVIL),
        measurements=(measurement("latency_median", 1, EVIL, note=EVIL),),
        verdicts=(replace(verdict(False, EVIL), limit=EVIL, origin=EVIL),),
        agreement=replace(AGREEMENT, outputs=(worst,)),
        profile=replace(profile(), layers=(replace(layer, tag=EVIL), *others)),
    )


def test_four_header_cells_that_sort() -> None:
    assert len(header_cells()) == len(columns(record())) == 4
    assert all('class="sortable"' in cell for cell in header_cells())


def test_cells_name_model_board_latency_and_agreement() -> None:
    texts = [Page(cell).text for cell in columns(record())]
    assert texts == [
        "kws_ref_model",
        "sim:apollo4p_evb",
        "320.6 msmodelled",
        "within 1 step of ref",
    ]


def test_latencies_sort_by_their_value() -> None:
    def cell(us: float) -> str:
        return columns(record(measurements=(measurement("latency_median", us, "us"),)))[2]

    assert cell(583) < cell(47_794) < cell(2_314_000)


def test_the_cell_of_the_test_id_is_escaped() -> None:
    nodeid = f"test_kws.py::test_kws[{EVIL}]"
    page = Page(id_cell(f'<td class="col-testId">{nodeid}::setup</td>', nodeid))
    assert page.tags() == {"td"}
    assert page.text == f"{nodeid}::setup"


def test_a_test_without_record_has_empty_cells() -> None:
    assert [Page(cell).text for cell in columns(None)] == [""] * 4


def test_the_details_are_well_formed_and_show_each_part() -> None:
    page = Page(extra_html(record()))
    assert page.open == []
    assert page.tags() >= {"table", "svg", "rect", "a"}
    for text in ("320.6 ms", "modelled", "9,176,380", "DEPTHWISE_CONV_2D", "pass", "1 step"):
        assert text in page.text


def test_the_errors_of_every_output_are_a_table() -> None:
    (output,) = AGREEMENT.outputs
    outputs = (output, replace(output, name="Odd", max_abs_real=None, nse=None))
    page = Page(extra_html(record(agreement=replace(AGREEMENT, outputs=outputs))))
    for text in ("Mean (MAE)", "Relative L2", "0.00108", "0.999991", "NSE", "0.999953"):
        assert text in page.text
    assert re.search(r"Odd\s*none\s*3.26e-05\s*0.000357\s*0.00108\s*0.999991\s*none", page.text)


def test_one_bar_per_layer_the_longest_is_the_widest() -> None:
    page = Page(extra_html(record()))
    widths = [int(attributes["width"] or 0) for attributes in page.tagged("rect")]
    assert len(widths) == 13
    assert widths[0] == max(widths) > widths[1] > widths[10] == 0


def test_the_link_carries_the_whole_csv_under_the_name_of_the_model() -> None:
    link = Page(extra_html(record())).link()
    prefix, _, data = (link["href"] or "").partition(",")
    assert link["download"] == "kws_ref_model.csv"
    assert prefix == "data:text/csv;charset=utf-8"
    assert unquote(data) == csv_text(profile())


def test_many_layers_are_summed_up_beyond_the_40_longest() -> None:
    layers = tuple(Layer(number, "ADD", float(number), 1) for number in range(100))
    page = Page(extra_html(record(profile=replace(profile(), layers=layers))))
    assert "60 more layers" in page.text
    assert f"{sum(range(60)):,}" in page.text
    _, _, data = (page.link()["href"] or "").partition(",")
    assert len(list(csv.reader(io.StringIO(unquote(data))))) == 101


def test_a_setup_failure_shows_the_error_and_the_static_layers() -> None:
    model = replace(MODEL, layers=(StaticLayer(0, "CONV_2D", 320000),))
    dead = setup_failure("BoardTimeout: no answer after 2 s", model=model)
    page = Page(extra_html(dead))
    assert "BoardTimeout: no answer after 2 s" in page.text
    assert (MODEL.sha256 or "-") in page.text
    assert "320,000" in page.text
    assert "svg" not in page.tags()
    assert "a" not in page.tags()  # a CSV is of a profile


def test_a_model_that_could_not_be_read_shows_its_error() -> None:
    broken = setup_failure("ModelError: damaged", model=ModelFacts("", "", ""), board=NO_BOARD)
    assert "ModelError: damaged" in Page(extra_html(broken)).text
    assert "unknown model" in Page(summary_html(results(broken))).text


def test_names_are_text_wherever_they_stand() -> None:
    evil = evil_record()
    for markup in (extra_html(evil), summary_html(results(evil)), *columns(evil)):
        page = Page(markup)
        assert page.open == []
        assert page.tags().isdisjoint({"img", "script"})
        assert not any(name.startswith("on") for _, attrs in page.elements for name in attrs)
    assert EVIL in Page(extra_html(evil)).text


def test_the_name_of_the_download_is_a_file_name() -> None:
    name = Page(extra_html(evil_record())).link()["download"] or ""
    assert name.endswith(".csv")
    assert not set(name) & set("<>'\"/\\ ")


def test_the_details_hold_no_double_quote() -> None:
    assert '"' not in extra_html(record())


def test_the_summary_has_a_row_per_model_and_board_and_the_style_once() -> None:
    wrong = replace(AGREEMENT, passed=False)
    other = replace(MODEL, id="other")
    failed = record("b", model=other, verdicts=(verdict(False),), agreement=wrong)
    markup = summary_html(results(record("a"), failed))
    assert markup.count("<style>") == 1
    text = Page(markup).text
    assert "1 failed" in text
    assert "1 passed" in text


def test_the_summary_has_the_accuracy_when_there_is_one() -> None:
    words = "0.9833 on the board"
    accuracy = replace(ACCURACY, text=words)
    measured = record(accuracy=accuracy)
    assert words in Page(summary_html(results(measured))).text
    assert "Accuracy" not in Page(summary_html(results(record()))).text


def test_of_many_results_the_red_ones_stand_in_the_table_and_all_others_can_be_unpacked() -> None:
    names = [f"model_{number:03d}" for number in range(MOST_ROWS + 50)]
    made = [record(name, model=replace(MODEL, id=name)) for name in names]
    made[-1] = replace(made[-1], outcome="failed", verdicts=(verdict(False),))
    markup = summary_html(results(*made))
    (block,) = re.findall(r"<script type=text/plain id=ad-rows>(.*?)</script>", markup)
    (rest,) = unpack(block)
    shown, folded = (re.findall(r">(model_\d+)</a>", part) for part in (markup, rest))
    assert shown == [names[-1], *names[: MOST_ROWS - 1]]
    assert folded == names[MOST_ROWS - 1 : -1]
    assert "<summary>50 more rows</summary>" in markup


def test_a_run_without_boards_has_only_the_style() -> None:
    assert Page(summary_html([])).tags() == {"style"}


def make_report(pytester: pytest.Pytester, *options: str) -> Path:
    """A pytest-html report of a passed, a plain and a flaky test, and one that fails in setup."""
    records = {
        "test_kws": evil_record("test_it.py::test_kws"),
        "test_dead": setup_failure(),
        "test_flaky": record("test_it.py::test_flaky"),
    }
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(test_it=TESTS)
    plain = {name: to_plain(each) for name, each in records.items()}
    (pytester.path / "records.json").write_text(json.dumps(plain), encoding="utf-8")
    pytester.runpytest_subprocess("--html=report.html", "-p", "no:autodeploy", *options)
    return pytester.path / "report.html"


def rows_of(report: Path) -> dict[str, list[dict[str, Any]]]:
    (blob,) = (
        attributes["data-jsonblob"]
        for attributes in Page(report.read_text(encoding="utf-8")).tagged("div")
        if "data-jsonblob" in attributes
    )
    tests: dict[str, list[dict[str, Any]]] = json.loads(blob or "")["tests"]
    return tests


@pytest.mark.skipif(
    importlib.metadata.version("pytest-html").startswith("4.1."),
    reason="the page of pytest-html 4.1 itself closes th by td",
)
@pytest.mark.parametrize(
    "options", [(), ("--self-contained-html", "-n2", "--reruns=1")], ids=["plain", "all-at-once"]
)
def test_a_report_has_details_in_every_row_of_a_test_with_a_record(
    pytester: pytest.Pytester, options: tuple[str, ...]
) -> None:
    rows = rows_of(make_report(pytester, *options))
    for name in ("test_kws", "test_flaky"):
        for row in rows[f"test_it.py::{name}"]:
            link = Page(row["extras"][-1]["content"]).link()
            assert (link["href"] or "").startswith("data:text/csv")
    (dead,) = {row["extras"][0]["content"] for row in rows["test_it.py::test_dead"]}
    assert "no answer after 2 s" in Page(dead).text
    assert rows["test_it.py::test_other"][0]["extras"] == []


@pytest.mark.skipif(BROWSER is None, reason="needs Chromium or Chrome")
def test_a_browser_shows_names_as_text(pytester: pytest.Pytester) -> None:
    report = make_report(pytester, "--self-contained-html")
    assert BROWSER is not None
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]
    command += [f"--user-data-dir={pytester.path / 'browser'}", "--disable-background-networking"]
    dom = subprocess.run(
        [*command, report.as_uri()], capture_output=True, encoding="utf-8", timeout=60, check=True
    ).stdout
    assert "DEPTHWISE_CONV_2D" in dom
    assert [attrs for _, attrs in Page(dom).elements if "onerror" in attrs] == []
