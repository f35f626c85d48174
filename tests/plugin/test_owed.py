"""Which test owes which limit: by its markers, by its place in the suite, or as the last one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pytest_autodeploy.limits import accuracy, energy, latency, memory, npu
from pytest_autodeploy.limits.declaration import Declaration, LimitError
from pytest_autodeploy.limits.declarations import REGRESSION
from pytest_autodeploy.limits.declared import Declared, declare
from pytest_autodeploy.metrics.ledger import Row, Status
from pytest_autodeploy.plugin import owed
from pytest_autodeploy.plugin.state import UNJUDGED
from pytest_autodeploy.settings.meter_choice import NO_METER

OPTION, INI, DEFAULT = "--tflite-latency-budget", "ini autodeploy_latency_budget", "default"


@dataclass
class Settings:
    """What the run was told."""

    limits: dict[str, Any] = field(default_factory=dict)
    labels: str = ""
    may_skip_unjudged: bool = False
    meter: bool = True


@dataclass
class Item:
    """A test of a model on a board, or of neither."""

    nodeid: str = "t"
    limits: tuple[Declared, ...] = ()
    suite: bool = False
    board: str | None = "sim:x"
    fixturenames: tuple[str, ...] = ("model_session",)
    name: str = "test_it"
    config: Any = None
    stash: pytest.Stash = field(default_factory=pytest.Stash)

    @property
    def case(self) -> Any:
        """The model and the board."""
        if self.board is None:
            return None
        return SimpleNamespace(board=self.board, key=("m", self.board))

    def iter_markers(self) -> Sequence[Any]:
        """A marker for each limit that the test itself declares."""
        return [SimpleNamespace(name=each.name) for each in self.limits if each.by_marker]


class Run:
    """Tests that are collected together."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **settings: Any) -> None:
        self.settings = Settings(**settings)
        self.config = SimpleNamespace(stash=pytest.Stash())
        self.problems: list[str] = []
        changes: dict[str, Any] = {
            "case_of": lambda item: item.case,
            "limits_of": lambda item: item.limits,
            "in_suite": lambda item: item.suite,
            "settings_of": lambda _config: self.settings,
            "board_has_meter": lambda _board, settings: settings.meter,
            "refuse": lambda _config, _items, text: self.problems.append(text),
        }
        for name, change in changes.items():
            monkeypatch.setattr(owed, name, change)

    def collected(self, *items: Item) -> None:
        """As after the collection."""
        for item in items:
            item.config = self.config
        owed.check_owed(cast(Any, SimpleNamespace(items=items, config=self.config)))

    def owes(self, item: Item, declared: Declared) -> bool:
        """Whether a test owes a limit."""
        item.config = self.config
        return owed.owes(cast(Any, item), declared)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    return Run(monkeypatch, limits={"latency_budget": 1})


def budget(origin: str = INI) -> Declared:
    return declare(latency.DECLARATION, origin, ms=1)


def judge(item: Item, status: Status) -> None:
    row = Row("latency_budget", "latency_budget(ms=1)", INI, status, "text")
    owed.note_judged(cast(Any, item), [row])


def test_a_test_owes_what_its_markers_declare(run: Run) -> None:
    assert run.owes(Item(), budget("marker"))
    assert run.owes(Item(board=None), budget("marker and ini autodeploy_latency_budget"))


def test_of_the_suite_the_test_of_the_metric_owes_a_limit(run: Run) -> None:
    assert run.owes(Item(suite=True, name="test_latency"), budget(OPTION))
    assert not run.owes(Item(suite=True, name="test_energy"), budget(OPTION))
    assert run.owes(Item(suite=True, name="test_energy"), declare(REGRESSION, "default"))


def test_of_the_users_tests_the_last_of_a_board_owes_a_limit(run: Run) -> None:
    first, last = Item("a", (budget(),)), Item("b", (budget(),))
    other = Item("c", (budget(),), board="sim:y")
    run.collected(first, last, other)
    assert [run.owes(item, budget()) for item in (first, last, other)] == [False, True, True]
    assert not run.owes(last, budget(DEFAULT))
    assert not run.owes(Item("b", board=None), budget())


def test_a_test_that_could_not_judge_it_is_not_the_last(run: Run) -> None:
    able, unable = Item("a", (budget(),)), Item("b", (budget(),), fixturenames=("evb",))
    run.collected(able, unable)
    assert [run.owes(item, budget()) for item in (able, unable)] == [True, False]


@pytest.mark.parametrize(("status", "owes"), [("pass", False), ("FAIL", False), ("no limit", True)])
def test_what_an_earlier_test_judged_is_not_owed(run: Run, status: Status, owes: bool) -> None:
    first, last = Item("a", (budget(),)), Item("b", (budget(),))
    run.collected(first, last)
    judge(first, status)
    assert run.owes(last, budget()) is owes


def test_what_an_attempt_judged_that_does_not_count_is_owed_again(run: Run) -> None:
    first, last = Item("a", (budget(),)), Item("b", (budget(),))
    run.collected(first, last)
    judge(first, "pass")
    owed.forget_judged(cast(Any, first))
    assert run.owes(last, budget())
    judge(first, "pass")
    judge(last, "pass")
    owed.forget_judged(cast(Any, last))  # the first one has judged it, too
    assert not run.owes(last, budget())
    owed.forget_judged(cast(Any, Item(config=run.config)))


def groups_of(item: Item) -> frozenset[str]:
    return owed.owed_groups(cast(Any, item))


def test_a_named_group_is_owed_by_the_test_that_measures_it(run: Run) -> None:
    both = declare(REGRESSION, "--tflite-no-regression", latency="5%", per_layer="5%")
    names = ("test_latency", "test_layer_profile", "test_energy")
    of_suite = [Item(limits=(both,), suite=True, name=name) for name in names]
    found = [groups_of(item) for item in of_suite]
    assert found == [frozenset({"latency"}), frozenset({"per_layer"}), frozenset()]
    assert groups_of(Item(limits=(declare(REGRESSION, latency="5%"),))) == {"latency"}
    for none in ((), (budget(),)):
        assert groups_of(Item(limits=none)) == frozenset()


def test_groups_of_a_setting_are_owed_by_the_last_of_the_users_tests(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = Run(monkeypatch, limits={"no_regression": 1})
    setting = declare(REGRESSION, "ini autodeploy_no_regression", latency="5%")
    first, last = Item("a", (budget(), setting)), Item("b", (setting,))
    run.collected(first, last)
    assert (groups_of(first), groups_of(last)) == (frozenset(), frozenset({"latency"}))


def test_a_test_that_ended_before_leaves_a_row_for_all_that_it_owed(run: Run) -> None:
    limits = (budget("marker"), budget(INI), budget(DEFAULT), budget("none"))
    item = Item("a", limits)
    run.collected(item)
    rows = owed.unjudged_rows(cast(Any, item), "it was skipped")
    assert [(row.origin, row.status, row.red) for row in rows] == [
        ("marker", "NOT JUDGED", True),
        (INI, "NOT JUDGED", True),
    ]
    assert rows[0].text.startswith("m on sim:x: latency_budget(ms=1) could not be judged")
    item.stash[UNJUDGED] = "the user allowed it"
    assert not any(row.red for row in owed.unjudged_rows(cast(Any, item), "it was skipped"))


@pytest.mark.parametrize(
    ("declaration", "fixtures", "labels", "can"),
    [
        (latency.DECLARATION, ("model_session",), "", True),
        (memory.DECLARATION, ("evb",), "", False),
        (energy.ENERGY, ("model_session",), "", False),
        (energy.ENERGY, ("model_session", "power_meter"), "", True),
        (energy.ENERGY, ("power_meter",), "", False),
        (accuracy.DECLARATION, ("model_session",), "", False),
        (accuracy.DECLARATION, ("model_session",), "labels.npy", True),
        (accuracy.DECLARATION, ("model_session", "model_labels"), "", True),
        (npu.DECLARATION, ("npu_estimate",), "", True),
        (npu.DECLARATION, ("model_session",), "", False),
    ],
)
def test_a_test_could_judge_what_it_has_the_fixtures_for(
    run: Run, declaration: Declaration, fixtures: tuple[str, ...], labels: str, can: bool
) -> None:
    run.settings.labels = labels
    item = Item(fixturenames=fixtures, config=run.config)
    assert owed.could_judge(cast(Any, item), declaration) is can


def test_energy_without_a_meter_is_refused_before_anything_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limit = declare(energy.ENERGY, uj=1)
    for meter, skip, problems in ((False, False, 1), (True, False, 0), (False, True, 0)):
        run = Run(monkeypatch, meter=meter, may_skip_unjudged=skip)
        item = Item("a", (limit, budget("marker")))
        run.collected(item)
        assert len(run.problems) == problems
        reason = owed.skip_reason(cast(Any, item))
        says = f"energy_limit(uj=1) is not judged: sim:x: {NO_METER}"
        assert reason == (says if skip else None)
    run = Run(monkeypatch, meter=False)
    run.collected(Item("a", (limit,), board=None))
    assert run.problems == []


def test_the_same_problem_is_told_once_and_each_test_has_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = Run(monkeypatch, meter=False)
    limit = declare(energy.ENERGY, uj=1)
    run.collected(Item("a", (limit, limit)), Item("b", (limit,)))
    (text,) = run.problems
    assert [line.partition(":")[0] for line in text.splitlines()] == ["a", "b"]


def test_a_setting_that_only_the_suite_owes_is_its_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run(monkeypatch, meter=False, limits={"energy_limit": 1, "no_regression": 1})
    limit = declare(energy.ENERGY, "--tflite-energy-limit", uj=1)
    run.collected(
        Item("a", (limit,), suite=True, name="test_latency"),
        Item("b", (limit,), fixturenames=("model_session", "power_meter")),
    )
    assert run.problems == []
    run.collected(Item("c", (limit,), suite=True, name="test_energy"))
    assert len(run.problems) == 1
    regression = declare(REGRESSION, "--tflite-no-regression", energy="5%")
    run.collected(Item("d", (regression,), suite=True, name="test_energy"))
    assert len(run.problems) == 2


def wrong(item: Item, monkeypatch: pytest.MonkeyPatch, folder: Path) -> list[str]:
    """What is wrong with the limits of a test whose files are in a folder."""
    monkeypatch.setattr(owed, "against_path", lambda _item, name, _origin: folder / name)
    return list(owed.wrong_limits(cast(Any, item)))


def test_a_marker_needs_its_fixture_and_a_setting_does_not(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    without = Item("a[x]", (budget("marker"),), fixturenames=("evb",), config=run.config)
    assert wrong(without, monkeypatch, tmp_path) == [
        "a: the marker latency_budget needs the fixture model_session; "
        "add it to the test's arguments"
    ]
    for fine in (Item("a", (budget("marker"),)), Item("a", (budget(INI),), fixturenames=())):
        assert wrong(fine, monkeypatch, tmp_path) == []


def test_the_model_of_the_pc_has_to_be_there(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    limit = declare(accuracy.DECLARATION, min=0.9, against="float.tflite")
    item = Item("a", (limit, budget("marker")), config=run.config)
    assert wrong(item, monkeypatch, tmp_path) == [
        f"a: {limit.text}: no such model file: {tmp_path / 'float.tflite'}"
    ]
    (tmp_path / "float.tflite").touch()
    assert wrong(item, monkeypatch, tmp_path) == []


def test_limits_that_contradict_each_other_are_told_alone(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def contradict(_item: object) -> tuple[Declared, ...]:
        raise LimitError("declared at the same place")

    monkeypatch.setattr(owed, "limits_of", contradict)
    item = Item("folder/test_a.py::test_a[m-b]", config=run.config)
    assert list(owed.wrong_limits(cast(Any, item))) == [
        "folder/test_a.py::test_a: declared at the same place"
    ]
