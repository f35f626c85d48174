"""Numbers that have to be finite."""

from __future__ import annotations

import math
from typing import Any

import pytest

from pytest_autodeploy.base.numbers import check_number, finite, finite_data


@pytest.mark.parametrize(
    ("value", "span"),
    [
        (0, {}),
        (1e300, {}),
        (0.5, {"most": 1}),
        (1, {"most": 1}),
        (-3, {"least": -3}),
        (1e-9, {"above": True}),
        (None, {"above": True}),
    ],
)
def test_a_number_in_its_range_passes(value: float | None, span: dict[str, Any]) -> None:
    check_number("ms", value, **span)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, -1e-9])
def test_what_is_not_finite_is_in_no_range(value: float) -> None:
    with pytest.raises(ValueError, match=rf"^ms must be at least 0, not {value!r}$"):
        check_number("ms", value)
    with pytest.raises(ValueError, match=rf"^ms must be 0 to 1, not {value!r}$"):
        check_number("ms", value, most=1)


@pytest.mark.parametrize(
    ("value", "span", "words"),
    [
        (0, {"above": True}, "above 0"),
        (0.0, {"above": True, "most": 1}, "above 0 and at most 1"),
        (1.1, {"most": 1}, "0 to 1"),
        (9, {"least": 10}, "at least 10"),
    ],
)
def test_the_range_is_told(value: float, span: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=rf"^ms must be {words}, not {value!r}$"):
        check_number("ms", value, **span)


@pytest.mark.parametrize("value", [True, "5", [1], 1j])
def test_what_is_no_number_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match="ms must be a number"):
        check_number("ms", value)


def test_plain_data_has_no_number_that_json_has_not() -> None:
    assert [finite(x) for x in (1.5, 0.0, None, math.nan, -math.inf)] == [1.5, 0.0, *[None] * 3]
    plain = {"a": (1, math.nan), 2: [{"b": math.inf}], "c": True, "d": "nan"}
    assert finite_data(plain) == {"a": [1, None], "2": [{"b": None}], "c": True, "d": "nan"}
