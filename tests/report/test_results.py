"""Records merged into results, and their files."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from pytest_autodeploy.base.errors import ResultsError
from pytest_autodeploy.baseline.measured import measured_by
from pytest_autodeploy.metrics.record import TestRecord
from pytest_autodeploy.metrics.result import OutcomeRecord, Provenance, RunFacts
from pytest_autodeploy.report.cards import cards_html
from pytest_autodeploy.report.npz import write_mismatch
from pytest_autodeploy.report.openmetrics import openmetrics_text
from pytest_autodeploy.report.results import ResultStore, write_result
from tests.helpers.report_examples import (
    AGREEMENT,
    BOARD,
    MODEL,
    measurement,
    record,
    setup_failure,
    verdict,
)

PROVENANCE = Provenance({"pytest-autodeploy": "0.1.0"}, "3.11.2", "Linux")
RUN = RunFacts(command="pytest", started="2026-01-01T12:00")


def store(*records: TestRecord) -> ResultStore:
    filled = ResultStore()
    for each in records:
        filled.add(each)
    return filled


def write(results: ResultStore, output: Path, run: RunFacts = RUN) -> list[Path]:
    """Write every result of a store."""
    return [
        path
        for result in results.results()
        for path in write_result(result, output, PROVENANCE, run)
    ]


def test_records_of_a_model_and_board_become_one_result() -> None:
    arena = record("b", measurements=(measurement("arena_used", 10, "B"),), profile=None)
    latency = record("a", measurements=(measurement("latency_median", 5, "us"),))
    (result,) = store(arena, latency).results()
    assert [item.name for item in result.measurements] == ["arena_used", "latency_median"]
    assert [test.nodeid for test in result.tests] == ["a", "b"]
    assert result.profile
    assert len(result.profile.layers) == 13


def test_what_two_boards_of_a_type_measured_is_apart() -> None:
    """After a second chance; of what never reached a board nobody knows, it is with the last."""
    times = {"lab3-a": 5.0, "lab3-b": 7.0}
    of_boards = [
        record(
            f"on {name}",
            board=replace(BOARD, rig_name=name),
            measurements=(measurement("latency_median", us),),
        )
        for name, us in times.items()
    ]
    results = store(*of_boards, record("zero", outcome="error", board=replace(BOARD))).results()
    found = [(r.board.rig_name, [item.value for item in r.measurements]) for r in results]
    assert found[0] == ("lab3-a", [5.0])
    assert found[1][0] == "lab3-b"
    assert [test.nodeid for test in results[1].tests] == ["on lab3-b", "zero"]
    assert len({result.files.json for result in results}) == 2
    assert [each.label.partition("@")[2] for each in (r.board for r in results)] == [*times]
    cards = cards_html(results, [], ".")
    ids = re.findall(r"<article[^>]* id=([\w-]+)", cards)
    assert len(ids) == 2
    assert len(set(ids)) == 2
    text = openmetrics_text(results, datetime.now(UTC))
    families = [line.rpartition(" ")[0] for line in text.splitlines() if not line.startswith("#")]
    assert len(set(families)) == len(families)
    in_history = {m.board.rig_name: m.measurements[0].value for m in measured_by(of_boards)}
    assert in_history == times


def test_the_order_of_arrival_does_not_matter() -> None:
    records = [record(name, measurements=(measurement("macs", i),)) for i, name in enumerate("abc")]
    assert store(*records).results() == store(*reversed(records)).results()
    assert store(*records).results()[0].measurements[0].value == 2


def test_each_model_and_board_has_its_own_result() -> None:
    other = record("b", board=replace(BOARD, id="sim:apollo510_evb"))
    results = store(other, record("a")).results()
    assert [result.board.id for result in results] == [
        "sim:apollo4p_evb",
        "sim:apollo510_evb",
    ]


def test_a_rerun_replaces_the_earlier_try() -> None:
    first = record(outcome="failed", verdicts=(verdict(False),))
    (result,) = store(first, record()).results()
    assert result.tests == (OutcomeRecord("test_kws.py::test_kws", "passed", "", None),)
    assert [item.status for item in result.verdicts] == ["pass"]


def test_an_agreement_that_passed_does_not_hide_one_that_failed() -> None:
    failed = record("a", agreement=replace(AGREEMENT, passed=False))
    (result,) = store(failed, record("b")).results()
    assert result.agreement
    assert result.agreement.test == "a"


def test_files_are_written_per_model_and_board(tmp_path: Path) -> None:
    written = write(store(record()), tmp_path)
    names = [path.relative_to(tmp_path).as_posix() for path in written]
    assert names == [
        "kws_ref_model/sim_apollo4p_evb/kws_ref_model.csv",
        "kws_ref_model/sim_apollo4p_evb/result.json",
    ]
    assert sorted(path for path in tmp_path.rglob("*") if path.is_file()) == sorted(written)


def test_the_json_has_schema_and_provenance(tmp_path: Path) -> None:
    path = write(store(record()), tmp_path)[-1]
    document = json.loads(path.read_text(encoding="utf-8"))
    assert document["schema"] == 2
    assert document["provenance"]["versions"] == {"pytest-autodeploy": "0.1.0"}
    assert document["model"]["sha256"] == MODEL.sha256
    assert all("source" in item for item in document["measurements"])


def test_two_runs_differ_in_nothing_but_run(tmp_path: Path) -> None:
    documents = []
    for port, started in (("/dev/pts/1", "12:00"), ("/dev/pts/2", "13:00")):
        output = tmp_path / started.replace(":", "")
        filled = store(record(board=replace(BOARD, port=port)))
        csv, json_file = write(filled, output, replace(RUN, started=started))
        document = json.loads(json_file.read_text(encoding="utf-8"))
        assert document.pop("run") == {
            "port": port,
            "boards": [],
            "command": "pytest",
            "started": started,
            "finished": None,
            "id": None,
        }
        documents.append((document, csv.read_bytes()))
    assert documents[0] == documents[1]


def test_numbers_that_are_not_finite_become_null(tmp_path: Path) -> None:
    broken = record(measurements=(measurement("output_distance", math.inf, "real"),))
    path = write(store(broken), tmp_path)[-1]
    assert json.loads(path.read_text(encoding="utf-8"))["measurements"][0]["value"] is None


def test_a_setup_failure_leaves_a_json_alone(tmp_path: Path) -> None:
    (path,) = write(store(setup_failure()), tmp_path)
    assert json.loads(path.read_text(encoding="utf-8"))["tests"][0]["outcome"] == "error"


def test_models_whose_file_names_are_equal_do_not_share_a_folder(tmp_path: Path) -> None:
    records = [record(model=replace(MODEL, id=name)) for name in ("a/b", "a b")]
    written = write(store(*records), tmp_path)
    assert len({path.parent for path in written}) == 2


def test_no_model_name_leaves_the_output_folder(tmp_path: Path) -> None:
    evil = record(model=replace(MODEL, id="../../etc", name="../x"), board=replace(BOARD, id=".."))
    for path in write(store(evil), tmp_path):
        assert path.resolve().is_relative_to(tmp_path.resolve())


def test_an_output_folder_that_is_a_file_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "taken").touch()
    with pytest.raises(ResultsError, match=r"cannot write .*taken"):
        write(store(record()), tmp_path / "taken")


def test_a_failed_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(store(record()), tmp_path)[-1]
    before = path.read_bytes()

    def full(self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(ResultsError, match="No space left on device"):
        write(store(record(seed=7)), tmp_path)
    assert path.read_bytes() == before
    assert not list(tmp_path.rglob(".*"))


def test_a_mismatch_is_read_without_pickle(tmp_path: Path) -> None:
    inputs = [np.arange(6, dtype=np.int8).reshape(2, 3)]
    outputs = {"ref": [np.ones((2, 1), np.float32)]}
    path = write_mismatch(tmp_path / "deep" / "m.npz", inputs, [np.zeros((2, 1))], outputs)
    with np.load(path, allow_pickle=False) as arrays:
        assert sorted(arrays) == ["board_0", "input_0", "pc_ref_0"]
        assert arrays["input_0"].tolist() == [[0, 1, 2], [3, 4, 5]]


def test_the_same_mismatch_gives_the_same_bytes(tmp_path: Path) -> None:
    arrays = [np.arange(4)]
    paths = [write_mismatch(tmp_path / name, arrays, arrays, {}) for name in ("a.npz", "b.npz")]
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_python_objects_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match="Object arrays"):
        write_mismatch(tmp_path / "m.npz", [np.array([object()])], [], {})
