"""What the values of a file that others wrote may be: each bound is held, and no further."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from pytest_autodeploy.baseline.errors import BaselineError
from pytest_autodeploy.baseline.part import LARGEST, LARGEST_WHOLE, LONGEST, RESTORE, Part


def part(value: Any = None, where: str = "entries.HP") -> Part:
    return Part("f", where, {"key": value})


def refused(call: Callable[[], object], says: str) -> None:
    with pytest.raises(BaselineError, match=re.escape(f"f is damaged: {says}")) as raised:
        call()
    assert raised.value.hint == RESTORE


@pytest.mark.parametrize("text", ["", "a", "ä€😀", "x" * LONGEST])
def test_a_text_that_fits_passes(text: str) -> None:
    assert part(text).text("key") == text


@pytest.mark.parametrize("value", ["x" * (LONGEST + 1), 3, None, ["a"], json.loads('"\\ud800"')])
def test_what_is_no_text_of_a_sensible_length_is_refused(value: Any) -> None:
    with pytest.raises(BaselineError, match=r"entries\.HP\.key is .*, not a text of at most 1000"):
        part(value).text("key")


def test_one_of_some_choices_is_taken_and_nothing_else() -> None:
    assert part("HP").text("key", ("HP", "LP")) == "HP"
    refused(
        lambda: part("XP").text("key", ("HP", "LP")), "entries.HP.key is 'XP', not one of HP, LP"
    )


@pytest.mark.parametrize("value", [0, 5, 2.5, 10])
def test_a_number_in_its_range_passes_both_ends(value: float) -> None:
    assert part(value).number("key", 0, 10) == value


@pytest.mark.parametrize("value", [LARGEST, -LARGEST, 0.0])
def test_without_a_range_a_number_is_one_whose_square_is_finite(value: float) -> None:
    assert part(value).number("key") == value


@pytest.mark.parametrize(
    "value", [-0.001, 10.001, float("nan"), float("inf"), True, False, "5", None, [], {}]
)
def test_what_is_no_number_in_the_range_is_refused(value: Any) -> None:
    with pytest.raises(BaselineError, match=r"entries\.HP\.key is .*, not a number"):
        part(value).number("key", 0, 10)


def test_a_number_that_is_out_of_range_is_told_the_range() -> None:
    refused(
        lambda: part(-1).number("key", 0, 10), "entries.HP.key is -1, not a number from 0 to 10"
    )
    refused(
        lambda: part(2e100).number("key"), "entries.HP.key is 2e+100, not a number from -1e+100"
    )


def test_a_spread_may_be_missing_and_is_not_below_zero() -> None:
    assert part(0.0).spread("key") == 0
    assert part(0.0).spread("other") is None
    refused(lambda: part(-0.1).spread("key"), "entries.HP.key is -0.1, not a number from 0")


@pytest.mark.parametrize("value", [1, 2, 9, 10])
def test_a_whole_number_in_its_range_passes_both_ends(value: int) -> None:
    assert part(value).whole("key", 1, 10) == value


def test_without_a_bound_a_whole_number_is_one_that_a_float_holds() -> None:
    assert part(LARGEST_WHOLE).whole("key", 0) == LARGEST_WHOLE
    assert float(LARGEST_WHOLE - 1) + 1 == LARGEST_WHOLE
    with pytest.raises(BaselineError, match="not a whole number from 0 to 9007199254740992"):
        part(LARGEST_WHOLE + 1).whole("key", 0)


@pytest.mark.parametrize("value", [0, 11, 2.0, True, False, "2", None])
def test_what_is_no_whole_number_in_the_range_is_refused(value: Any) -> None:
    with pytest.raises(BaselineError, match="not a whole number from 1 to 10"):
        part(value).whole("key", 1, 10)


def test_a_missing_key_is_told_with_its_place() -> None:
    refused(lambda: part().text("no"), "entries.HP has no no")
    refused(lambda: part(where="").text("no"), "it has no no")


def test_objects_and_lists_are_read_by_their_places() -> None:
    assert part({"a": 1}).part("key") == Part("f", "entries.HP.key", {"a": 1})
    assert part({"a": {"b": 1}}).parts("key") == {"a": Part("f", "entries.HP.key.a", {"b": 1})}
    assert part([{"a": 1}, {}]).listed("key") == [
        Part("f", "entries.HP.key[0]", {"a": 1}),
        Part("f", "entries.HP.key[1]", {}),
    ]
    assert part({"a": "b"}, "").texts("key") == {"a": "b"}


def test_what_is_no_object_or_list_is_refused() -> None:
    refused(lambda: part([]).part("key"), "entries.HP.key is a list, not an object")
    refused(lambda: part({}).listed("key"), "entries.HP.key is an object, not a list")
    refused(lambda: part([{}, 3]).listed("key"), "entries.HP.key[1] is 3, not an object")
    refused(lambda: part({"a": 3}).parts("key"), "entries.HP.key.a is 3, not an object")


def test_names_are_of_a_sensible_length_and_long_values_are_cut() -> None:
    assert part({"x" * LONGEST: "a"}).texts("key")
    for call in (part({"x" * (LONGEST + 1): "a"}).texts, part({"x" * (LONGEST + 1): {}}).parts):
        with pytest.raises(BaselineError, match="not the value of a sensible key") as raised:
            call("key")
        assert len(str(raised.value)) < 300
    with pytest.raises(BaselineError, match="xxx") as raised:
        part("x" * 5000).number("key")
    assert len(str(raised.value)) < 200
