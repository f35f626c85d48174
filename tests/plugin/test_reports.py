"""What a run leaves behind: result files, JUnit, HTML; also with xdist, reruns, -W error."""

from __future__ import annotations

import csv
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.result_files import result_file

HTML = ("--html", "report.html", "--self-contained-html")


def results(output: str = "autodeploy-results") -> dict[str, Any]:
    """The only JSON result below a folder."""
    (path,) = Path(output).glob("*/*/result.json")
    return result_file(path)


def test_files_of_a_run(pytester: pytest.Pytester, digits: Path) -> None:
    pytester.runpytest("--tflite", digits.name)
    (path,) = Path("autodeploy-results").glob("*/*/digits_cnn.csv")
    rows = list(csv.reader(path.read_text().splitlines()))
    assert rows[0][:5] == ["Event", "Tag", "uSeconds", "Est MACs", "cycles"]
    assert rows[0][-2:] == ["Run", "Source"]
    assert len(rows[0]) == 20  # the 18 columns of the application note come first
    assert rows[1][1] == "CONV_2D"
    result = results()
    assert result["schema"] == 2
    assert result["model"]["sha256"]
    assert result["board"]["source"] == "modelled"
    assert result["provenance"]["versions"]["pytest-autodeploy"]
    assert {m["name"] for m in result["measurements"]} >= {"latency_median", "arena_used", "macs"}
    assert all(m["source"] in ("modelled", "estimated", "exact") for m in result["measurements"])


def test_two_runs_leave_the_same(pytester: pytest.Pytester, digits: Path) -> None:
    for output in ("one", "two"):
        pytester.runpytest("--tflite", digits.name, "--autodeploy-output", output)
    first, second = results("one"), results("two")
    first.pop("run")
    second.pop("run")
    assert first == second
    texts = [next(Path(output).glob("*/*/*.csv")).read_text() for output in ("one", "two")]
    assert texts[0] == texts[1]


@pytest.mark.slow
def test_xdist_leaves_the_same_as_a_serial_run(pytester: pytest.Pytester, digits: Path) -> None:
    serial = ("--tflite", digits.name, "--autodeploy-output", "serial")
    pytester.runpytest(*serial).assert_outcomes(passed=5)
    parallel = ("--tflite", digits.name, "--autodeploy-output", "parallel", "-n", "2", "-v")
    result = pytester.runpytest_subprocess(*parallel, *HTML)
    result.assert_outcomes(passed=5)
    result.stdout.fnmatch_lines(["*autodeploy: digits_cnn on sim:apollo4p_evb (simulated)*"])
    first, second = results("serial"), results("parallel")
    first.pop("run")
    second.pop("run")
    assert first == second
    assert "data:text/csv" in Path("report.html").read_text()


def test_junit_has_every_measurement(pytester: pytest.Pytester, digits: Path) -> None:
    pytester.runpytest("--tflite", digits.name, "--junitxml", "junit.xml")
    root = ET.parse("junit.xml").getroot()  # noqa: S314  # made by the line above
    properties = {p.get("name"): p.get("value") for p in root.iter("property")}
    assert float(str(properties["autodeploy.latency_median_us"])) > 0
    assert properties["autodeploy.source"] == "modelled"
    assert len(str(properties["autodeploy.model_sha256"])) == 64


@pytest.mark.parametrize("arguments", [(), ("--self-contained-html",)])
def test_the_html_report_has_columns_layers_and_csv(
    pytester: pytest.Pytester, digits: Path, arguments: tuple[str, ...]
) -> None:
    pytester.runpytest("--tflite", digits.name, "--html", "report.html", *arguments)
    report = Path("report.html").read_text()
    for text in ("data-column-type", "col-agreement", "data:text/csv", "CONV_2D", "svg"):
        assert text in report


def test_a_failed_set_up_has_its_model_in_the_html_report(
    pytester: pytest.Pytester, digits: Path
) -> None:
    pytester.runpytest("--tflite", digits.name, "--evb-arena-kb", "1", *HTML)
    report = Path("report.html").read_text()
    assert "CONV_2D" in report
    assert "Failed to allocate" in report


def test_reruns_keep_the_attachments(pytester: pytest.Pytester, digits: Path) -> None:
    arguments = ("--tflite-latency-budget", "us=1", "--reruns", "2", "-k", "latency")
    result = pytester.runpytest("--tflite", digits.name, *arguments, *HTML)
    assert "2 rerun" in result.stdout.str()
    assert "digits_cnn" in Path("report.html").read_text()
    assert len(results()["tests"]) == 1


@pytest.mark.parametrize(
    "arguments", [("-p", "no:html"), ("--strict-markers",), ("-p", "no:terminal")]
)
def test_it_works_with(pytester: pytest.Pytester, digits: Path, arguments: tuple[str, ...]) -> None:
    result = pytester.runpytest("--tflite", digits.name, *arguments)
    assert result.ret == 0


def test_no_import_warns(pytester: pytest.Pytester, digits: Path) -> None:
    result = pytester.runpytest_subprocess("--tflite", digits.name, "-W", "error")
    assert result.ret == 0


def test_it_works_in_strict_mode(pytester: pytest.Pytester, digits: Path) -> None:
    Path("pytest.toml").write_text('[pytest]\nstrict = true\nfilterwarnings = ["error"]\n')
    pytester.runpytest("--tflite", digits.name).assert_outcomes(passed=5)


def test_a_report_without_models_has_no_columns_to_see(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_mine(): pass")
    pytester.runpytest(*HTML)
    assert re.search(r"<style>th\[data-column-type=model\].*display:none", page())


def page() -> str:
    """The text of the HTML report."""
    return Path("report.html").read_text()


def test_a_name_with_html_is_escaped(pytester: pytest.Pytester, digits: Path) -> None:
    digits.rename("<img src=x onerror=alert(1)>.tflite")
    pytester.runpytest("--tflite", ".", *HTML).assert_outcomes(passed=5)
    assert "<img src=x" not in page()


def test_the_terminal_shows_layers_when_verbose(pytester: pytest.Pytester, digits: Path) -> None:
    quiet = pytester.runpytest("--tflite", digits.name)
    quiet.stdout.no_fnmatch_line("*FULLY_CONNECTED*")
    verbose = pytester.runpytest("--tflite", digits.name, "-v")
    verbose.stdout.fnmatch_lines(["*FULLY_CONNECTED*"])


def test_the_title_of_a_section_is_right_above_its_figures(
    pytester: pytest.Pytester, digits: Path
) -> None:
    result = pytester.runpytest("autodeploy::test_model_fits", "--tflite", digits.name, "-v")
    (at,) = (n for n, line in enumerate(result.outlines) if "= autodeploy: digits_cnn" in line)
    assert result.outlines[at + 1].startswith("Ran on")
