"""What each metric measures, repeats and tells of a session: figures, names, and when."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pytest_autodeploy.base.measurement import Measurement
from pytest_autodeploy.limits import energy, latency, memory, outputs
from pytest_autodeploy.limits.declared import declare
from pytest_autodeploy.metrics.energy import EnergyMetric, PowerMetric
from pytest_autodeploy.metrics.latency import LatencyMetric
from pytest_autodeploy.metrics.memory import Memory
from pytest_autodeploy.metrics.outputs import Outputs
from pytest_autodeploy.metrics.subject import NotJudged, Subject
from pytest_autodeploy.profile.records import Layer, LayerProfile
from pytest_autodeploy.session.collected import Measured
from pytest_autodeploy.session.measured import Latency, MemoryUse, TunedArena

TIMES = Latency(9.0, (4.0, 2.0, 3.0, 8.0), "measured")
MEMORY = MemoryUse(700, 2048, 5000, "measured")
TUNED = TunedArena(1104, 3, "measured", 1088)


def profile(run: Any = "warm", cycles: int | None = 30, us: float = 2.0) -> LayerProfile:
    layers = (Layer(0, "CONV_2D", us, 40, cycles), Layer(1, "SOFTMAX", us, 0, cycles))
    return LayerProfile(layers, run, (), "measured")


class Session:
    """A session that notes what it is asked to measure."""

    def __init__(self, macs: int | None = 40, **measured: Any) -> None:
        self.measured = Measured(**measured)
        self.model = SimpleNamespace(macs=macs, name="m")
        self.board = SimpleNamespace(id="sim:x")
        self.source = "measured"
        self.clock = "HP"
        self.incomplete: tuple[str, ...] = ()
        self.asked: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        return lambda *args, **keywords: self.asked.append((name, *args, *keywords.items()))


def subject(session: Session | None, **more: Any) -> Subject:
    return Subject(cast(Any, None), cast(Any, session), **more)


def figures(found: Any) -> dict[str, float]:
    return {each.name: each.value for each in found}


def test_times_have_four_statistics_and_the_rate_of_the_median() -> None:
    session = Session(latency=TIMES)
    found = list(LatencyMetric().measurements(subject(session)))
    assert figures(found) == {
        "latency_median": 3.5,
        "latency_p95": 8.0,
        "latency_max": 8.0,
        "latency_first": 9.0,
        "inferences_timed": 4,
        "macs_per_second": pytest.approx(40 / 3.5e-6),
    }
    better = {each.name: each.better for each in found}
    assert better["macs_per_second"] == "higher"
    assert better["inferences_timed"] == "neither"
    assert {each.better for each in found[:4]} == {"lower"}


@pytest.mark.parametrize("session", [Session(None, latency=TIMES), Session(0, latency=TIMES)])
def test_without_macs_there_is_no_rate(session: Session) -> None:
    session.measured.profile = profile()
    found = figures(LatencyMetric().measurements(subject(session)))
    assert not {"macs_per_second", "cycles_per_mac"} & set(found)
    assert found["profile_cycles"] == 60


def test_without_a_time_there_is_no_rate() -> None:
    session = Session(latency=replace(TIMES, samples_us=(0.0,)), profile=profile(us=0.0))
    assert "macs_per_second" not in figures(LatencyMetric().measurements(subject(session)))


@pytest.mark.parametrize(
    ("count", "p95"), [(1, 1), (19, 19), (20, 19), (21, 20), (100, 95), (101, 96)]
)
def test_95_percent_of_the_samples_do_not_exceed_p95(count: int, p95: float) -> None:
    samples = tuple(float(number) for number in range(count, 0, -1))
    assert replace(TIMES, samples_us=samples).p95_us == p95


def test_a_profile_has_sums_and_what_a_mac_takes() -> None:
    session = Session(profile=profile())
    assert figures(LatencyMetric().measurements(subject(session))) == {
        "profile_time": 4.0,
        "macs_per_second": pytest.approx(40 / 4e-6),
        "profile_cycles": 60,
        "cycles_per_mac": 1.5,
    }


def test_cycles_that_are_not_known_are_not_told() -> None:
    session = Session(profile=profile(cycles=None), first_profile=profile("first", cycles=None))
    found = figures(LatencyMetric().measurements(subject(session)))
    assert set(found) == {"profile_time_first", "profile_time", "macs_per_second"}


def test_a_first_inference_is_told_where_a_warm_one_stands_beside_it() -> None:
    first = profile("first", us=7.0)
    session = Session(first_profile=first, profile=profile())
    found = figures(LatencyMetric().measurements(subject(session)))
    assert (found["profile_time_first"], found["profile_cycles_first"]) == (14.0, 60)
    alone = Session(first_profile=first, profile=first)
    assert "profile_time_first" not in figures(LatencyMetric().measurements(subject(alone)))


def test_what_was_not_measured_is_not_told() -> None:
    for metric in (LatencyMetric(), Memory(), EnergyMetric(), Outputs()):
        assert list(metric.measurements(subject(Session()))) == []
        assert list(metric.unlimited(subject(Session()), [])) == []
    for metric in (LatencyMetric(), Memory(), EnergyMetric()):
        assert list(metric.measurements(subject(None))) == []
        assert list(metric.unlimited(subject(None), [])) == []


def test_what_has_a_limit_is_not_told_as_having_none() -> None:
    session = subject(Session(latency=TIMES, memory=MEMORY))
    for metric, declared, name in (
        (LatencyMetric(), declare(latency.DECLARATION, ms=1), "latency_median"),
        (Memory(), declare(memory.DECLARATION, model_kb=9), "arena_used"),
    ):
        (told,) = metric.unlimited(session, [])
        assert told.measurement is not None
        assert (told.status, told.measurement.name) == ("no limit", name)
        assert list(metric.unlimited(session, [declared])) == []


def test_what_was_measured_once_is_not_measured_again() -> None:
    done = Session(latency=TIMES, memory=MEMORY, arena=TUNED)
    for metric in (LatencyMetric(), Memory()):
        metric.provide(subject(done))
    assert done.asked == []
    new = Session()
    for metric in (LatencyMetric(), Memory()):
        metric.provide(subject(new))
    assert new.asked == [("latency",), ("memory",), ("tune_arena",)]


def test_only_the_median_is_repeated() -> None:
    session = Session()
    assert LatencyMetric().repeat(subject(session), "latency_median", 7, restarted=True)
    assert session.asked == [("time_more", 7, ("restarted", True))]
    for name in ("latency_p95", "profile_time"):
        assert not LatencyMetric().repeat(subject(session), name, 7, restarted=True)


def test_memory_is_arena_and_model() -> None:
    session = Session(memory=MEMORY, arena=TUNED)
    assert figures(Memory().measurements(subject(session))) == {
        "arena_used": 700,
        "arena_given": 2048,
        "model_size": 5000,
        "arena_tuned": 1104,
    }
    untold = Session(memory=replace(MEMORY, arena_given_bytes=0))
    assert "arena_given" not in figures(Memory().measurements(subject(untold)))


@pytest.mark.parametrize(
    ("limits", "found", "asked"),
    [
        ({"model_kb": 5}, {}, ["memory"]),
        ({"arena_kb": 5}, {}, ["memory", "tune_arena"]),
        ({"arena_kb": 5}, {"memory": MEMORY}, ["tune_arena"]),
        ({"arena_kb": 5}, {"arena": TUNED}, ["memory"]),
        ({"arena_kb": 5}, {"memory": MEMORY, "arena": TUNED}, []),
        ({"model_kb": 5}, {"memory": MEMORY}, []),
    ],
)
def test_the_arena_is_searched_only_where_it_is_limited(
    limits: dict[str, Any], found: dict[str, Any], asked: list[str]
) -> None:
    declared, session = declare(memory.DECLARATION, **limits), Session(**found)
    assert Memory().measured(subject(session), declared) is (asked == [])
    Memory().measure(subject(session), declared)
    assert [name for (name,) in session.asked] == asked


def test_each_limited_memory_has_a_row_of_its_own() -> None:
    session = subject(Session(memory=MEMORY, arena=TUNED))
    both = declare(memory.DECLARATION, arena_kb=1104 / 1024, model_kb=4999 / 1024)
    rows = list(Memory().rows(session, both))
    assert [(each.status, each.bound) for each in rows] == [("pass", 1104), ("FAIL", 4999)]
    only = declare(memory.DECLARATION, arena_kb=1103 / 1024)
    assert [each.status for each in Memory().rows(session, only)] == ["FAIL"]


@pytest.mark.parametrize(
    ("tuned", "note"),
    [
        (TUNED, "3 sizes tried"),
        (replace(TUNED, tries=1), "1 size tried"),
        (
            replace(TUNED, failed_bytes=1000),
            "3 sizes tried, the search ended early: it did not run in 1000 bytes",
        ),
    ],
)
def test_a_tuned_arena_says_how_it_was_found(tuned: TunedArena, note: str) -> None:
    (found,) = Memory().measurements(subject(Session(arena=tuned)))
    assert found.note == note


@pytest.mark.parametrize(
    ("statistic", "value"), [("median", 3.5), ("p95", 8.0), ("max", 8.0), ("first", 9.0)]
)
def test_a_budget_holds_the_statistic_that_it_names(statistic: Any, value: float) -> None:
    budgets = [
        declare(latency.DECLARATION, us=us, statistic=statistic) for us in (value, value - 0.01)
    ]
    session = subject(Session(latency=TIMES))
    rows = [row for budget in budgets for row in LatencyMetric().rows(session, budget)]
    assert [row.status for row in rows] == ["pass", "FAIL"]
    assert {row.measurement.value for row in rows if row.measurement} == {value}


def test_a_time_that_is_doubted_is_not_judged() -> None:
    session = subject(Session(latency=replace(TIMES, doubt="HP was not reached")))
    with pytest.raises(NotJudged, match="HP was not reached"):
        list(LatencyMetric().rows(session, declare(latency.DECLARATION, ms=1)))


class Power:
    """What a meter over pins saw, or a session with a meter, in one clock mode."""

    mode = "HP"

    def measurement(self, name: str) -> Measurement:
        values = {"energy": (250.0, "uJ"), "power": (20.0, "mW"), "power_time": (900.0, "us")}
        value, unit = values[name]
        return Measurement(name, value, unit, "lower", "measured")

    def measurements(self) -> list[Measurement]:
        return [self.measurement(name) for name in ("energy", "power")]


def test_energy_and_power_are_each_held_against_their_own_limit() -> None:
    session = subject(Session(power={"HP": Power()}))
    for uj, status in ((250, "pass"), (249.9, "FAIL")):
        (row,) = EnergyMetric().rows(session, declare(energy.ENERGY, uj=uj))
        assert row.status == status
    for mw, status in ((20, "pass"), (19.9, "FAIL")):
        (row,) = PowerMetric().rows(session, declare(energy.POWER, mw=mw))
        assert row.status == status
    assert figures(EnergyMetric().measurements(session)) == {"energy": 250, "power": 20}


def test_energy_is_measured_in_the_mode_of_the_limit() -> None:
    session = subject(Session(power={"HP": Power()}))
    assert EnergyMetric().measured(session, declare(energy.ENERGY, uj=1))
    assert not EnergyMetric().measured(session, declare(energy.ENERGY, uj=1, mode="LP"))


def test_energy_that_leaves_operators_out_is_within_no_limit() -> None:
    session = Session(power={"HP": Power()})
    session.incomplete = ("SignalRfft",)
    with pytest.raises(NotJudged, match="leaves out SignalRfft"):
        list(EnergyMetric().rows(subject(session), declare(energy.ENERGY, uj=1)))


def over_pins(*modes: str) -> Any:
    energies = {mode: Power() for mode in modes}
    return SimpleNamespace(energies=energies, main=energies.get("HP"), model=None, board_id="b")


def test_over_pins_only_the_median_of_a_mode_that_was_run_is_known() -> None:
    pins = subject(None, over_pins=over_pins("HP"))
    median = declare(latency.DECLARATION, us=900)
    p95 = declare(latency.DECLARATION, us=900, statistic="p95")
    assert LatencyMetric().measured(pins, median)
    assert not LatencyMetric().measured(pins, p95)
    assert not LatencyMetric().measured(subject(None, over_pins=over_pins()), median)
    (row,) = LatencyMetric().rows(pins, median)
    assert (row.status, row.bound) == ("pass", 900)
    with pytest.raises(NotJudged, match="tells no p95 of inferences"):
        LatencyMetric().measure(pins, p95)
    with pytest.raises(NotJudged, match="there is no energy in the clock mode LP"):
        EnergyMetric().measure(pins, declare(energy.ENERGY, uj=1, mode="LP"))
    assert not EnergyMetric().repeat(pins, "energy_hp", 2, restarted=False)


def test_windows_are_added_in_the_mode_that_is_named() -> None:
    asked: list[Any] = []

    def more(_board: object, mode: str, count: int, *, restarted: bool) -> bool:
        asked.append((mode, count, restarted))
        return True

    services = SimpleNamespace(power_meter=lambda: SimpleNamespace(measure_more=more))
    session = Subject(cast(Any, services), cast(Any, Session()))
    assert EnergyMetric().repeat(session, "energy_lp", 4, restarted=True)
    assert asked == [("LP", 4, True)]
    for name in ("energy_xp", "energy", "latency_median"):
        assert not EnergyMetric().repeat(session, name, 4, restarted=True)
    assert not PowerMetric().repeat(session, "energy_lp", 4, restarted=True)


def test_without_a_meter_energy_is_not_judged() -> None:
    services = SimpleNamespace(power_meter=lambda: None)
    session = Subject(cast(Any, services), cast(Any, Session()))
    with pytest.raises(NotJudged, match="no power meter"):
        EnergyMetric().provide(session)


def test_the_distance_of_outputs_is_told_when_it_is_a_number() -> None:
    def found(distance: float) -> list[Measurement]:
        whole = subject(Session())
        agreement: Any = SimpleNamespace(distance=distance, distance_unit="steps")
        whole.evidence.agreement = agreement
        return list(Outputs().measurements(whole))

    assert [(each.name, each.value, each.unit) for each in found(2.0)] == [
        ("output_distance", 2.0, "steps")
    ]
    assert found(float("inf")) == found(float("nan")) == []
    assert Outputs().measured(subject(Session(run=cast(Any, 1))), declare(outputs.DECLARATION))
    assert not Outputs().measured(subject(Session()), declare(outputs.DECLARATION))


def test_a_meter_measures_in_the_mode_of_the_limit_or_the_sessions_own() -> None:
    asked: list[str] = []
    meter = SimpleNamespace(measure=lambda _board, mode: asked.append(mode))
    services = SimpleNamespace(power_meter=lambda: meter)
    new = Subject(cast(Any, services), cast(Any, Session()))
    EnergyMetric().provide(new)
    EnergyMetric().measure(new, declare(energy.ENERGY, uj=1, mode="LP"))
    assert asked == ["HP", "LP"]
    EnergyMetric().provide(Subject(cast(Any, services), cast(Any, Session(power={"LP": Power()}))))
    assert asked == ["HP", "LP"]
