"""Updating baselines: what is written, what is left alone, and the line for each change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_autodeploy.baseline.format import Baseline
from pytest_autodeploy.baseline.store import read_baseline, write_baseline
from pytest_autodeploy.baseline.update import Update, update_baselines
from pytest_autodeploy.limits.declarations import default_regression
from pytest_autodeploy.metrics.record import TestRecord
from pytest_autodeploy.rpc.messages import ClockMode
from pytest_autodeploy.session.model_session import ModelSession
from pytest_autodeploy.sim.noise import TimingNoise
from tests.helpers.noisy_session import MODEL, gate, measure, record, session, without_tflm

FILE = Path("digits_cnn", "apollo4p_evb.simulated.json")
TITLE = "digits_cnn on sim:apollo4p_evb"


LIMIT = default_regression()


@pytest.fixture(autouse=True)
def _no_tflm() -> Iterator[None]:
    with without_tflm():
        yield


def measured(slowdown: float = 0, clock: ClockMode = ClockMode.HIGH_PERFORMANCE) -> ModelSession:
    """A session that has measured latency, memory and layers."""
    made = session(TimingNoise(slowdown=slowdown), clock)
    measure(made, gate(Path("unused"), update="all"))
    return made


def update(folder: Path, *records: TestRecord, mode: str = "all") -> Update:
    return update_baselines(records, folder, folder, mode=mode, plugin_version="0.1.0", limit=LIMIT)


def kept(folder: Path) -> Baseline:
    found = read_baseline(folder / FILE)
    assert found
    return found


def only(record: TestRecord, *names: str) -> TestRecord:
    """The record with only some of its measurements, and no profile."""
    chosen = tuple(m for m in record.measurements if m.name in names)
    return replace(record, measurements=chosen, profile=None)


def whole(session: ModelSession) -> TestRecord:
    """The record of a test that measured latency, memory, size and layers."""
    made = record(session)
    names = ("latency_median", "arena_used", "model_size")
    return replace(only(made, *names), profile=made.profile)


def changed(record: TestRecord, sha256: str = "cd" * 32) -> TestRecord:
    """The record of another model."""
    return replace(record, model=replace(record.model, sha256=sha256))


def test_times_of_another_clock_than_was_wanted_are_not_kept(tmp_path: Path) -> None:
    made = record(measured())
    doubted = replace(made, board=replace(made.board, clock_doubt="HP was not reached: ..."))
    assert update(tmp_path, doubted).lines == [f"{TITLE}: not updated, HP was not reached: ..."]
    assert not (tmp_path / FILE).exists()


def test_a_first_update_has_a_line_per_metric(tmp_path: Path) -> None:
    lines = update(tmp_path, record(measured())).lines
    assert lines == [
        f"{TITLE}: arena_tuned 16 B, new",  # what stands in for TFLM runs in any arena
        f"{TITLE}: arena_used 3.91 KB, new",
        f"{TITLE}: latency_median 24.2 ms, new",
        f"{TITLE}: model_size 16.4 KB, new",
        f"{TITLE}: 7 layers, new",
    ]
    entry = kept(tmp_path).entries["HP"]
    assert entry.model_sha256 == MODEL.sha256
    assert entry.provenance["plugin_version"] == "0.1.0"
    assert entry.metrics["latency_median"].repeats == 30
    assert entry.layers
    assert entry.layers.repeats == 30


def test_an_update_tells_what_changed(tmp_path: Path) -> None:
    update(tmp_path, record(measured()))
    assert update(tmp_path, record(measured())).lines == [f"{TITLE}: unchanged"]
    lines = update(tmp_path, record(measured(slowdown=10))).lines
    assert f"{TITLE}: latency_median 24.2 ms -> 26.6 ms (+10 %)" in lines
    assert f"{TITLE}: 7 of 7 layers have another time" in lines


def test_new_adds_and_never_replaces(tmp_path: Path) -> None:
    update(tmp_path, only(record(measured()), "latency_median"))
    before = kept(tmp_path).entries["HP"].metrics["latency_median"]
    update(tmp_path, record(measured(slowdown=10)), mode="new")
    entry = kept(tmp_path).entries["HP"]
    assert entry.metrics["latency_median"] == before
    assert "arena_used" in entry.metrics
    assert entry.layers


def test_a_part_of_the_tests_updates_its_part(tmp_path: Path) -> None:
    update(tmp_path, record(measured()))
    update(tmp_path, only(record(measured(slowdown=10)), "latency_median"))
    entry = kept(tmp_path).entries["HP"]
    assert entry.metrics["latency_median"].value > 26_000
    assert "arena_used" in entry.metrics


def test_each_value_says_of_which_run_it_is(tmp_path: Path) -> None:
    update(tmp_path, whole(measured()))
    assert '"update"' not in (tmp_path / FILE).read_text()
    part = only(record(measured(slowdown=10)), "latency_median")
    lines = update(tmp_path, part).lines
    assert f"{TITLE}: still of an earlier run: arena_used, layers, model_size" in lines
    assert kept(tmp_path).entries["HP"].updates == {
        "arena_used": 1,
        "layers": 1,
        "model_size": 1,
        "latency_median": 2,
    }
    written = (tmp_path / FILE).read_text()
    assert update(tmp_path, part).lines == [f"{TITLE}: unchanged"]
    assert (tmp_path / FILE).read_text() == written

    update(tmp_path, whole(measured(slowdown=10)))
    assert set(kept(tmp_path).entries["HP"].updates.values()) == {1}


def test_what_is_added_later_says_so(tmp_path: Path) -> None:
    update(tmp_path, only(record(measured()), "latency_median"))
    update(tmp_path, whole(measured(slowdown=10)), mode="new")
    assert kept(tmp_path).entries["HP"].updates == {
        "latency_median": 1,
        "arena_used": 2,
        "model_size": 2,
        "layers": 2,
    }


def test_values_of_two_builds_of_the_firmware_are_never_mixed(tmp_path: Path) -> None:
    update(tmp_path, whole(measured()))
    before = kept(tmp_path)
    part = only(record(measured()), "latency_median")
    part = replace(part, board=replace(part.board, build_id="another"))
    (problem,) = update(tmp_path, part).problems
    assert "or the firmware changed, but arena_used, model_size, layers was not measured" in problem
    assert update(tmp_path, part, mode="new").lines == [f"{TITLE}: unchanged"]
    assert kept(tmp_path) == before


def test_values_of_two_models_are_never_mixed(tmp_path: Path) -> None:
    update(tmp_path, record(measured()))
    before = kept(tmp_path)
    result = update(tmp_path, only(changed(record(measured())), "latency_median"))
    (problem,) = result.problems
    assert "changed, but arena_tuned, arena_used, model_size, layers was not measured" in problem
    assert "run all of its tests" in problem
    assert kept(tmp_path) == before


def test_a_failed_test_keeps_the_baseline(tmp_path: Path) -> None:
    failed = replace(record(measured()), nodeid="test_it.py::test_other", outcome="failed")
    result = update(tmp_path, record(measured()), failed)
    assert result.lines == [f"{TITLE}: not updated, test_it.py::test_other failed"]
    assert not (tmp_path / FILE).exists()


def test_clock_modes_have_entries_of_their_own(tmp_path: Path) -> None:
    slow = measured(clock=ClockMode.LOW_POWER)
    update(tmp_path, record(measured()), replace(record(slow), nodeid="test_it.py::test_slow"))
    assert sorted(kept(tmp_path).entries) == ["HP", "LP"]


def test_two_models_of_one_name_are_refused(tmp_path: Path) -> None:
    one, other = record(measured()), changed(record(measured()))
    other = replace(other, nodeid="x", model=replace(other.model, file="b/digits_cnn.tflite"))
    (problem,) = update(tmp_path, one, other).problems
    assert problem.startswith("b/digits_cnn.tflite and digits_cnn.tflite have one baseline, ")
    assert not (tmp_path / FILE).exists()


def test_the_baseline_of_another_model_of_that_name_is_kept(tmp_path: Path) -> None:
    update(tmp_path, record(measured()))
    (tmp_path / "digits_cnn.tflite").touch()
    elsewhere = record(measured())
    moved = replace(elsewhere.model, file="other/digits_cnn.tflite")
    elsewhere = replace(elsewhere, model=moved)
    (problem,) = update(tmp_path, elsewhere).problems
    assert "is the baseline of digits_cnn.tflite, not of other/digits_cnn.tflite" in problem
    (tmp_path / "digits_cnn.tflite").unlink()  # moved, not copied
    assert not update(tmp_path, elsewhere).problems


@pytest.mark.parametrize("text", ["{", '{"schema": 99}'])
def test_a_file_that_is_not_understood_is_kept(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).parent.mkdir()
    (tmp_path / FILE).write_text(text)
    (problem,) = update(tmp_path, record(measured())).problems
    assert "not updated" in problem
    assert (tmp_path / FILE).read_text() == text


def test_the_board_can_be_another_than_in_the_file(tmp_path: Path) -> None:
    update(tmp_path, record(measured()))
    old = kept(tmp_path)
    other = replace(old.entries["HP"].conditions, engine="helia")
    entries = {"HP": replace(old.entries["HP"], conditions=other)}
    write_baseline(tmp_path / FILE, replace(old, entries=entries))
    lines = update(tmp_path, record(measured())).lines
    assert f"{TITLE}: conditions changed" in lines
