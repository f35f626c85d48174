"""What a run leaves beside its results: characterisation, log of results, dated CSVs, .xlsx."""

from __future__ import annotations

import csv
import json
import sqlite3
from pathlib import Path
from xml.etree import ElementTree

import pytest

from pytest_autodeploy.deliver.files import load
from pytest_autodeploy.model.load import load_model
from tests.helpers.result_files import result_file

FOLDER = Path("autodeploy-results/digits_cnn/sim_apollo4p_evb")
CORRUPT = 'import pytest\n@pytest.fixture(scope="session")\ndef evb_options():\n    return '
FAULT = '{"sim_arguments": ["--fault", "corrupt-op:0"]}\n'


def run(pytester: pytest.Pytester, digits: Path, *arguments: str) -> pytest.RunResult:
    return pytester.runpytest("--tflite", digits.name, *arguments)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


class TestCharacterisation:
    def test_every_run_leaves_one_that_the_second_step_takes(
        self, pytester: pytest.Pytester, digits: Path
    ) -> None:
        result = run(pytester, digits, "-v", "-k", "fits or outputs")
        result.assert_outcomes(passed=2, deselected=3)
        result.stdout.fnmatch_lines(["Characterisation * *digits_cnn_mc.json"])
        assert {"digits_cnn_mc.json", "digits_cnn_md.json"} <= names(FOLDER)
        found = load(FOLDER, load_model(digits))
        tuned = {m["name"]: m["value"] for m in result_file(FOLDER / "result.json")["measurements"]}
        assert found.arena_bytes == tuned["arena_tuned"]
        files = result_file(FOLDER / "result.json")["files"]
        assert files["characterization"] == "digits_cnn/sim_apollo4p_evb/digits_cnn_mc.json"

    def test_workers_that_do_not_know_of_each_other_leave_it_too(
        self, pytester: pytest.Pytester, digits: Path
    ) -> None:
        run(pytester, digits, "-k", "outputs", "-n", "1", "-p", "xdist")
        assert "digits_cnn_mc.json" in names(FOLDER)

    def test_outputs_that_are_wrong_now_remove_that_of_an_earlier_run(
        self, pytester: pytest.Pytester, digits: Path
    ) -> None:
        run(pytester, digits, "-k", "fits or outputs")
        pytester.makeconftest(CORRUPT + FAULT)
        run(pytester, digits, "-k", "fits or outputs").assert_outcomes(
            passed=1, failed=1, deselected=3
        )
        assert not [name for name in names(FOLDER) if name.endswith(("_mc.json", "_md.json"))]


class TestName:
    def test_a_name_is_that_of_folder_files_and_tests(
        self, pytester: pytest.Pytester, digits: Path
    ) -> None:
        result = run(pytester, digits, "--autodeploy-name", "mymodel", "-k", "layer", "-v")
        result.stdout.fnmatch_lines(["autodeploy::test_layer_profile[[]mymodel-sim:*PASSED*"])
        assert "mymodel.csv" in names(Path("autodeploy-results/mymodel/sim_apollo4p_evb"))

    @pytest.mark.parametrize(
        ("name", "words"), [("a/b", "is no name"), ("", "is no name"), ("../up", "is no name")]
    )
    def test_a_name_that_is_none_is_a_usage_error(
        self, pytester: pytest.Pytester, digits: Path, name: str, words: str
    ) -> None:
        result = run(pytester, digits, f"--autodeploy-name={name}")
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines([f"*{words}*"])

    def test_one_name_is_not_for_two_models(self, pytester: pytest.Pytester, digits: Path) -> None:
        (pytester.path / "other.tflite").write_bytes(digits.read_bytes())
        result = run(pytester, digits, "--tflite=other.tflite", "--autodeploy-name=one")
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines(["*it names one model, and there are 2*"])


class TestResultLog:
    ARGUMENTS = ("-k", "fits or latency or layer", "--autodeploy-result-log", "kept/log.csv")

    def rows(self) -> list[dict[str, str]]:
        with Path("kept/log.csv").open(newline="") as file:
            return list(csv.DictReader(file))

    def test_each_run_adds_a_row_under_one_header(
        self, pytester: pytest.Pytester, digits: Path
    ) -> None:
        for run_id in ("first", "=second"):
            run(pytester, digits, *self.ARGUMENTS, f"--autodeploy-run-id={run_id}")
        rows = self.rows()
        assert [row["Run ID"] for row in rows] == ["first", "'=second"]
        row = rows[1]
        assert (row["Model"], row["Board"], row["Source"]) == (
            "digits_cnn",
            "sim:apollo4p_evb",
            "modelled",
        )
        assert row["Model bytes"] == str(digits.stat().st_size)
        assert float(row["Median latency us"]) > 0
        assert row["Profile run"] == "warm, median of 10"
        assert row["HP uJ"] == ""  # it was not measured, which is not 0
        assert row["Passed"] == "1"

    def test_a_file_of_something_else_is_refused_before_the_run(
        self, pytester: pytest.Pytester, digits: Path
    ) -> None:
        (pytester.path / "kept").mkdir()
        (pytester.path / "kept" / "log.csv").write_text("my,own,table\n1,2,3\n")
        result = run(pytester, digits, *self.ARGUMENTS)
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines(["*is no result log of this version*"])
        assert Path("kept/log.csv").read_text() == "my,own,table\n1,2,3\n"


def test_the_run_id_reaches_json_junit_and_history(pytester: pytest.Pytester, digits: Path) -> None:
    files = ("--junitxml=j.xml", "--autodeploy-history=h.sqlite", "--autodeploy-run-id=ci-42")
    run(pytester, digits, "-k", "latency", "--autodeploy-openmetrics=prom/run.prom", *files)
    assert "autodeploy_latency_median_seconds{" in Path("prom/run.prom").read_text()
    assert json.loads((FOLDER / "result.json").read_text())["run"]["id"] == "ci-42"
    tree = ElementTree.parse("j.xml")  # noqa: S314  # written by this very test
    properties = {item.get("name"): item.get("value") for item in tree.iter("property")}
    assert properties["autodeploy.run_id"] == "ci-42"
    with sqlite3.connect("h.sqlite") as connection:
        assert connection.execute("SELECT label FROM runs").fetchall() == [("ci-42",)]


def test_profiles_of_all_runs_are_kept(pytester: pytest.Pytester, digits: Path) -> None:
    kept = ("-k", "layer", "--autodeploy-keep-profiles", "kept", "--tflite-profile=both")
    for _ in range(2):
        run(pytester, digits, *kept).assert_outcomes(passed=1, deselected=4)
    found = sorted(names(Path("kept")))
    assert len(found) == 4
    assert sum("-first-" in name for name in found) == 2
    newest = (FOLDER / "digits_cnn_first.csv").read_text()
    assert newest in [(Path("kept") / name).read_text() for name in found if "-first-" in name]


class TestXlsx:
    def test_it_has_the_rows_of_the_csv_as_numbers(
        self, pytester: pytest.Pytester, digits: Path
    ) -> None:
        openpyxl = pytest.importorskip("openpyxl", reason="needs the extra 'xlsx'")
        run(pytester, digits, "-k", "layer", "--autodeploy-xlsx", "--tflite-profile=both")
        book = openpyxl.load_workbook(FOLDER / "digits_cnn.xlsx")
        assert book.sheetnames == ["Layers, warm", "Layers, first", "Figures"]
        with (FOLDER / "digits_cnn.csv").open(newline="") as file:
            header, *rows = csv.reader(file)
        table = [[cell.value for cell in row] for row in book["Layers, warm"].rows]
        assert table[0] == header
        assert [row[:4] for row in table[1:]] == [
            [int(row[0]), row[1], float(row[2]), int(row[3])] for row in rows
        ]

    def test_without_its_extra_it_is_refused_before_the_run(
        self, pytester: pytest.Pytester, digits: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
        result = run(pytester, digits, "--autodeploy-xlsx")
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines(["*pip install 'pytest-autodeploy[[]xlsx]'*"])
