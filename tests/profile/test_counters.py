"""Which counters a profile has: events of a Cortex-M55 in several passes, DWT of a Cortex-M4."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from pytest_autodeploy.base.errors import BoardError, BoardRefused
from pytest_autodeploy.board.simulated import SimulatedBoard
from pytest_autodeploy.catalog.boards import board_spec
from pytest_autodeploy.catalog.pmu import EVENTS, SETS, parse_events
from pytest_autodeploy.model.load import load_model
from pytest_autodeploy.profile.passes import HINT, CounterChoice, record_events
from pytest_autodeploy.reference.inputs import random_inputs
from pytest_autodeploy.rpc.messages import LayerRecord
from pytest_autodeploy.session.model_session import ModelSession
from tests.helpers.support import DIGITS

CHAIN = 0x001E
MODEL = load_model(DIGITS)
MODELLED = ("CPU_CYCLES", "SW_INCR", "EXC_TAKEN", "EXC_RETURN", "MEMORY_ERROR", "BUS_CYCLES")


class TestNames:
    def test_sets_and_events_may_be_mixed_and_each_event_comes_once(self) -> None:
        assert parse_events("BR_RETIRED, branches,inst_retired,ARM_PMU_INST_RETIRED") == (
            *SETS["branches"],
            "INST_RETIRED",
        )

    def test_default_is_the_choice_of_the_board(self) -> None:
        assert parse_events("default") == ()

    def test_every_event_has_a_number_of_its_own_and_a_whole_counter(self) -> None:
        assert len(EVENTS) == len(set(EVENTS.values())) == 70
        assert CHAIN not in EVENTS.values()
        assert {name for names in SETS.values() for name in names} <= set(EVENTS)

    @pytest.mark.parametrize(
        ("text", "meant"),
        [("INST_RETIRD", "INST_RETIRED"), ("caches", "cache"), ("STAL", "STALL")],
    )
    def test_an_unknown_name_lists_the_closest_and_the_valid_ones(
        self, text: str, meant: str
    ) -> None:
        says = rf"named '{text}' \(did you mean {meant}\?\); sets: default, mve.*events: SW_INCR, "
        with pytest.raises(ValueError, match=says):
            parse_events(text)

    @pytest.mark.parametrize("text", ["", "mve,", "mve,default"])
    def test_an_empty_name_and_default_among_others_are_no_events(self, text: str) -> None:
        with pytest.raises(ValueError, match="no event or set of events"):
            parse_events(text)


@dataclass
class Monitor:
    """A board that counts two events at once: each layer counts the event's number."""

    tags: list[list[str]] = field(default_factory=lambda: [["A", "B"]])
    chosen: list[tuple[int, ...]] = field(default_factory=list)
    lost: int = 0
    at_once: int = 2
    board: str = "evb"

    def select_counters(self, events: Sequence[int] = ()) -> int:
        self.chosen.append(tuple(events))
        return self.at_once

    def record(self, repeats: int) -> list[list[LayerRecord]]:
        number = sum(1 for events in self.chosen if events) - 1
        counters = self.chosen[-1][self.lost :]
        tags = self.tags[min(number, len(self.tags) - 1)]
        layers = [LayerRecord(tag, 100 * number + 1, counters) for tag in tags]
        return [layers] * repeats


def recorded(monitor: Monitor, events: Sequence[str], repeats: int = 1) -> Any:
    return record_events(monitor, events, monitor.record, repeats)  # type: ignore[arg-type]


class TestPasses:
    def test_counters_of_all_passes_come_with_the_ticks_of_the_first(self) -> None:
        monitor = Monitor()
        events = ("INST_RETIRED", "CPU_CYCLES", "BUS_CYCLES")
        inferences = recorded(monitor, events, repeats=3)
        numbers = tuple(EVENTS[name] for name in events)
        assert monitor.chosen == [(), numbers[:2], numbers[2:], ()]
        assert [layer.ticks for inference in inferences for layer in inference] == [1] * 6
        assert [layer.counters for layer in inferences[-1]] == [numbers, numbers]

    @pytest.mark.parametrize(
        ("other", "says"),
        [
            (["A", "C"], "2 layers ran in a later pass, 2 in the first: layer 1 is C, not B"),
            (["C", "B"], "2 layers ran in a later pass, 2 in the first: layer 0 is C, not A"),
            (["A"], "1 layers ran in a later pass, 2 in the first"),
        ],
    )
    def test_passes_with_other_layers_are_an_error(self, other: list[str], says: str) -> None:
        monitor = Monitor(tags=[["A", "B"], other])
        with pytest.raises(BoardError, match=says):
            recorded(monitor, SETS["branches"])
        assert monitor.chosen[-1] == ()

    def test_only_the_first_pass_is_repeated(self) -> None:
        monitor, ran = Monitor(), []

        def record(repeats: int) -> list[list[LayerRecord]]:
            ran.append(repeats)
            return monitor.record(repeats)

        events = ("INST_RETIRED", "CPU_CYCLES", "BUS_CYCLES")
        nobody: Any = monitor
        assert len(record_events(nobody, events, record, 3)) == 3
        assert ran == [3, 1]

    def test_events_that_fit_at_once_take_one_pass(self) -> None:
        monitor = Monitor()
        recorded(monitor, ("INST_RETIRED", "CPU_CYCLES"))
        assert len(monitor.chosen) == 3

    def test_a_board_that_counts_nothing_at_once_is_asked_for_one(self) -> None:
        monitor = Monitor(at_once=0)
        (layers,) = recorded(monitor, ("INST_RETIRED", "CPU_CYCLES"))
        numbers = tuple(EVENTS[name] for name in ("INST_RETIRED", "CPU_CYCLES"))
        assert monitor.chosen == [(), numbers[:1], numbers[1:], ()]
        assert layers[0].counters == numbers

    def test_a_refusal_keeps_its_own_hint_or_gets_one(self) -> None:
        for hint, told in (("its own", "its own"), ("", HINT)):
            error = BoardRefused("no", status="x", text="no", board="evb", hint=hint)

            def refuses(_repeats: int, error: BoardRefused = error) -> list[list[LayerRecord]]:
                raise error

            nobody: Any = Monitor()
            with pytest.raises(BoardRefused) as raised:
                record_events(nobody, ("CPU_CYCLES",), refuses, 1)
            assert raised.value.hint == told
            assert nobody.chosen[-1] == ()

    def test_a_layer_that_lacks_a_counter_is_an_error(self) -> None:
        with pytest.raises(BoardError, match="do not have 2 counters"):
            recorded(Monitor(lost=1), ("CPU_CYCLES", "BUS_CYCLES"))


class TestDwt:
    NAMES = ("daccess", "cpi mod 256", "fold mod 256")

    def chosen(self, modulo: bool) -> tuple[tuple[str, ...], tuple[int, ...]]:
        layer = LayerRecord("CONV_2D", 5, (1000, 17, 255))
        choice = CounterChoice(modulo=modulo)
        nobody: Any = None
        inferences, names = choice.record(nobody, lambda n: [[layer]] * n, 1, self.NAMES)
        return names, inferences[0][0].counters

    def test_counters_that_wrap_are_left_out(self) -> None:
        assert self.chosen(modulo=False) == (("daccess",), (1000,))

    def test_a_layer_with_fewer_counters_has_those_that_it_has(self) -> None:
        nobody: Any = None
        layer = LayerRecord("CONV_2D", 5, (1000,))
        choice = CounterChoice(modulo=True)
        (layers,), names = choice.record(nobody, lambda n: [[layer]] * n, 1, self.NAMES)
        assert (names, layers[0].counters) == (self.NAMES, (1000,))

    def test_or_carry_what_they_are_in_their_names(self) -> None:
        assert self.chosen(modulo=True) == (self.NAMES, (1000, 17, 255))


@pytest.fixture(scope="module")
def session() -> Iterator[ModelSession]:
    board = SimulatedBoard("sim:apollo510_evb", board_spec("apollo510_evb"), timeout_s=30)
    try:
        yield ModelSession(MODEL, board, inputs=random_inputs(MODEL, 1, 1))
    finally:
        board.close()


def test_a_simulated_core_counts_what_it_models(session: ModelSession) -> None:
    session.prepare(session.inputs, counters=CounterChoice(MODELLED))
    profile = session.profile()
    assert profile.counter_names == MODELLED
    assert profile.source == "modelled"
    for layer in profile.layers:
        assert layer.counters == (layer.cycles, 0, 0, 0, 0, layer.cycles)
    assert session.board.client.identify().counters == ()


def test_chosen_counters_are_named_by_their_numbers(session: ModelSession) -> None:
    session.ensure()
    client = session.board.client
    assert client.select_counters((0x11,)) == 4
    assert client.identify().counters == ("0x0011",)
    client.select_counters()


def test_an_event_that_is_not_modelled_is_refused_by_its_name(session: ModelSession) -> None:
    session.prepare(session.inputs, counters=CounterChoice(("INST_RETIRED",)))
    says = r"not modelled: INST_RETIRED; modelled are CPU_CYCLES(.|\n)*--evb-counters"
    with pytest.raises(BoardRefused, match=says):
        session.profile()
    assert session.board.client.identify().counters == ()


def test_more_events_than_fit_are_refused(session: ModelSession) -> None:
    session.ensure()
    with pytest.raises(BoardRefused, match="5 events; 4 fit at once"):
        session.board.client.select_counters((0x11, 0x1D, 0, 9, 0xA))


def test_the_counters_are_columns_of_the_csv(pytester: pytest.Pytester, digits: Path) -> None:
    names = ",".join(MODELLED)
    pytester.makeini(f"[pytest]\nautodeploy_evb_counters = {names}\n")
    result = pytester.runpytest("--tflite", digits.name, "--evb", "sim:apollo510_evb", "-k", "prof")
    result.assert_outcomes(passed=1)
    (file,) = pytester.path.rglob("*.csv")
    header, first, *_ = csv.reader(file.read_text().splitlines())
    assert header[18:] == [*MODELLED, "Run", "Source"]  # behind those of a Cortex-M4
    assert first[5:18] == [""] * 13
    assert first[18:24] == [first[4], "0", "0", "0", "0", first[4]]
    assert first[-1] == "modelled"


@pytest.mark.parametrize(
    ("board", "events", "says"),
    [
        (
            "sim:apollo4p_evb",
            "mve",
            "*sim:apollo4p_evb has no performance monitor: its cortex-m4f*",
        ),
        ("qemu:mps3-an547", "mve", "*qemu:mps3-an547 has no performance monitor: QEMU has none*"),
        ("sim:apollo510_evb", "mvee", "*--evb-counters: no event*did you mean mve[?]*"),
    ],
)
def test_a_choice_that_cannot_work_ends_the_run_at_once(
    pytester: pytest.Pytester, digits: Path, board: str, events: str, says: str
) -> None:
    result = pytester.runpytest("--tflite", digits.name, "--evb", board, "--evb-counters", events)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([says])
