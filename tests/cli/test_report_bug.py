"""``autodeploy report-bug``: one zip, listed and asked about, with nothing private in it."""

from __future__ import annotations

import getpass
import json
import shutil
import socket
import sys
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from pytest_autodeploy.base.anonymous import anonymous
from pytest_autodeploy.cli import autodeploy
from tests.helpers.cli_support import run, run_json
from tests.helpers.support import DIGITS


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The results of a run, as far as a report looks at them."""
    monkeypatch.chdir(tmp_path)
    found = [{"name": "installation"}]  # of this PC all goals take seconds
    monkeypatch.setattr(sys.modules["pytest_autodeploy.cli.report_bug"], "_doctor", lambda: found)
    shutil.copy(DIGITS, tmp_path)
    folder = tmp_path / "autodeploy-results" / "digits_cnn" / "sim"
    folder.mkdir(parents=True)
    model = {"path": str(tmp_path / "digits_cnn.tflite")}
    run_facts = {"command": f"pytest --tflite {tmp_path}/secret", "port": "/dev/ttyACM0"}
    (folder / "result.json").write_text(json.dumps({"model": model, "run": run_facts}))
    (folder / "digits_cnn.csv").write_text("Event,Tag\n")
    (folder / "outputs.npz").write_bytes(b"arrays")
    (folder / "lib.a").write_bytes(b"a library with the model")
    (tmp_path / "rec").mkdir()
    (tmp_path / "rec" / "board.adrec").write_bytes(b"a recording")
    return tmp_path / "autodeploy-results"


def names_in(path: Path) -> set[str]:
    with zipfile.ZipFile(path) as file:
        return set(file.namelist())


def test_it_is_listed_and_nothing_is_written_without_a_yes(results: Path) -> None:
    result = run("report-bug", results, "--recording", "rec", "--out", "bug.zip")
    assert result.exit_code == 1
    assert "results/digits_cnn/sim/result.json" in result.output
    assert "recordings/board.adrec" in result.output
    assert "nothing was written" in result.output
    assert not Path("bug.zip").exists()


def test_a_yes_writes_it_without_models_and_arrays(results: Path) -> None:
    command = ["report-bug", str(results), "--recording", "rec", "--out", "bug.zip"]
    result = CliRunner().invoke(autodeploy, command, input="y\n")
    assert result.exit_code == 0, result.output
    assert names_in(Path("bug.zip")) == {
        "results/digits_cnn/sim/result.json",
        "results/digits_cnn/sim/digits_cnn.csv",
        "recordings/board.adrec",
        "environment.json",
    }
    assert "digits_cnn/sim/lib.a" in result.output


def test_models_go_in_only_when_they_are_asked_for(results: Path) -> None:
    code, document = run_json("report-bug", results, "--with-model", "--yes", "--out", "bug.zip")
    assert code == 0
    assert "models/digits_cnn.tflite" in names_in(Path("bug.zip"))
    assert document["left_out"] == ["digits_cnn/sim/lib.a", "digits_cnn/sim/outputs.npz"]


def test_nothing_private_is_in_it(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "annas-laptop.home.net")
    monkeypatch.setattr(getpass, "getuser", lambda: "anna")
    (results / "notes.md").write_text(f"{Path.cwd()}/x of anna@annas-laptop, /home/anna, savanna\n")
    assert run("report-bug", results, "--yes", "--out", "bug.zip").exit_code == 0
    with zipfile.ZipFile("bug.zip") as file:
        content = {name: file.read(name).decode() for name in file.namelist()}
    whole = "".join(content.values())
    for words in ("annas-laptop", "/home/anna", str(Path.cwd()), "secret"):
        assert words not in whole
    assert content["results/notes.md"] == "./x of USER@HOST, /home/USER, savanna\n"


def test_a_folder_without_results_and_a_file_that_is_there_are_told(results: Path) -> None:
    assert "has no results of a run" in run("report-bug", "rec", "--yes").output
    Path("bug.zip").write_text("mine")
    result = run("report-bug", results, "--yes", "--out", "bug.zip")
    assert "cannot write bug.zip" in result.output
    assert Path("bug.zip").read_text() == "mine"
    assert (
        "there is no recording nowhere"
        in run("report-bug", results, "--yes", "--recording", "nowhere").output
    )


def test_a_user_without_a_name_is_no_trouble(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody() -> str:
        raise KeyError("uid")

    monkeypatch.setattr(getpass, "getuser", nobody)
    monkeypatch.delenv("USER", raising=False)
    assert anonymous("a b c") == "a b c"
