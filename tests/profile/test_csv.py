"""Per-layer profiles and their CSV."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from pytest_autodeploy.profile.layer_csv import csv_text
from pytest_autodeploy.profile.records import Layer, LayerProfile
from tests.helpers.report_examples import profile


def rows(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


def with_first(**changes: Any) -> LayerProfile:
    """The profile with another first layer."""
    first, *others = profile().layers
    return replace(profile(), layers=(replace(first, **changes), *others))


NOTE = (
    "Event Tag uSeconds Est_MACs cycles cpi exc sleep lsu fold daccess dtaglookup dhitslookup "
    "dhitsline iaccess itaglookup ihitslookup ihitsline"
)
"""The columns of the application note, for readers that go by position."""


def titles() -> list[str]:
    return [title.replace("_", " ") for title in NOTE.split()]


def test_columns_are_those_of_the_application_note_then_run_and_source() -> None:
    header = rows(csv_text(profile()))[0]
    assert header == [*titles(), "Run", "Source"]


def test_columns_are_the_same_where_nothing_is_counted_and_nothing_has_run() -> None:
    header = rows(csv_text(profile()))[0]
    without = replace(profile(), counter_names=())
    assert rows(csv_text(without))[0] == header


def test_counters_stand_in_the_places_of_the_note_whatever_their_order() -> None:
    names = ("ihitsline", "fold mod 256", "daccess", "cpi mod 256")
    layers = tuple(replace(each, counters=(1, 2, 3, 4)) for each in profile().layers)
    header, first, *_ = rows(csv_text(replace(profile(), counter_names=names, layers=layers)))
    counted = {titles()[at]: first[at] for at in range(5, 18) if first[at]}
    assert counted == {"cpi": "4", "fold": "2", "daccess": "3", "ihitsline": "1"}
    assert (header[5], header[9]) == ("cpi mod 256", "fold mod 256")


def test_events_of_other_cores_come_behind_those_of_the_note() -> None:
    names = ("INST_RETIRED", "BUS_CYCLES")
    header, first, *_ = rows(csv_text(replace(profile(), counter_names=names)))
    assert header[18:] == [*names, "Run", "Source"]
    assert first[18:20] == ["141", "188"]


@pytest.mark.parametrize(
    ("run", "repeats", "words"),
    [("first", 1, "first"), ("warm", 1, "warm"), ("warm", 10, "warm, median of 10")],
)
def test_each_row_says_which_inference_it_is_of(run: Any, repeats: int, words: str) -> None:
    table = rows(csv_text(replace(profile(), run=run, repeats=repeats)))
    assert {row[-2] for row in table[1:]} == {words}


def test_one_row_per_layer_with_exact_numbers() -> None:
    table = rows(csv_text(profile()))
    assert len(table) == 14
    nothing = [""] * 9
    assert table[1] == [
        *("0", "CONV_2D", "47794", "320000", "9176380", "141", "", "", "188"),
        *nothing,
        *("warm", "modelled"),
    ]


def test_a_board_without_counters_has_empty_ones() -> None:
    without = replace(profile(), counter_names=())
    assert rows(csv_text(without))[1][4:] == ["9176380", *[""] * 13, "warm", "modelled"]


def test_unknown_macs_and_cycles_are_empty_and_none_are_0() -> None:
    table = rows(csv_text(with_first(macs=None, cycles=None)))
    assert table[1][3:5] == ["", ""]
    assert table[11][3] == "0"


def test_missing_counters_of_a_layer_are_empty() -> None:
    row = rows(csv_text(with_first(counters=(7,))))[1]
    assert (row[5], row[8]) == ("7", "")


@pytest.mark.parametrize(
    ("us", "text"), [(21.0, "21"), (21.5, "21.5"), (0.0004, "0"), (100, "100")]
)
def test_microseconds_have_at_most_three_decimals(us: float, text: str) -> None:
    assert rows(csv_text(with_first(us=us)))[1][2] == text


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n"])
def test_no_tag_can_be_run_as_a_formula(start: str) -> None:
    assert (
        rows(csv_text(with_first(tag=f'{start}HYPERLINK("x")')))[1][1] == f'\'{start}HYPERLINK("x")'
    )


def test_commas_quotes_and_line_ends_stay_in_their_cell() -> None:
    assert rows(csv_text(with_first(tag='a,"b"\nc')))[1][1] == 'a,"b"\nc'


def test_lines_end_with_a_line_feed_alone() -> None:
    text = csv_text(profile())
    assert "\r" not in text
    assert text.endswith("modelled\n")


def test_a_profile_survives_plain_data() -> None:
    original = LayerProfile(
        (Layer(0, "CONV_2D", 1.5, 10, 300, (1, 2)), Layer(1, "CUSTOM", 2.0)),
        "first",
        ("cpi", "lsu"),
        "measured",
    )
    assert msgspec.convert(msgspec.to_builtins(original), LayerProfile) == original


def test_totals_are_unknown_when_a_layer_is() -> None:
    layers = (Layer(0, "A", 1.5, 10, 300), Layer(1, "B", 2, 5, 30))
    known = LayerProfile(layers, "warm", (), "modelled")
    assert (known.total_us, known.total_macs, known.total_cycles) == (3.5, 15, 330)
    some = LayerProfile((*layers, Layer(2, "C", 1.0)), "warm", (), "modelled")
    assert (some.total_macs, some.total_cycles) == (None, None)
