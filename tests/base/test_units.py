"""How numbers are written."""

from __future__ import annotations

import math

import pytest

from pytest_autodeploy.base.text import join_lines, lines, one_line
from pytest_autodeploy.base.units import group_digits, in_full, percent, si


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (231_400, "us", "231.4 ms"),
        (2_314_000, "us", "2.31 s"),
        (999.996, "us", "1.00 ms"),
        (999_999, "us", "1.00 s"),
        (2.3e9, "us", "2300.0 s"),
        (583, "us", "583 us"),
        (0.5, "us", "500.0 ns"),
        (0, "us", "0 us"),
        (-231_400, "us", "-231.4 ms"),
        (159.257, "uJ", "159.3 uJ"),
        (9.346, "mW", "9.35 mW"),
        (192e6, "Hz", "192.0 MHz"),
        (23_456, "B", "22.9 KB"),
        (512, "B", "512 B"),
        (1_048_575, "B", "1.00 MB"),
        (2_656_768, "1", "2.66 M"),
        (13, "1", "13"),
        (9_999, "1", "9999"),
        (10_000, "1", "10.0 k"),
        (19.69, "1", "19.7"),
        (11.5e6, "1/s", "11.5 M/s"),
        (18, "steps", "18 steps"),
        (0.000123456, "real", "0.000123 real"),
        (math.nan, "us", "nan us"),
        (None, "us", "unknown"),
    ],
)
def test_si(value: float | None, unit: str, text: str) -> None:
    assert si(value, unit) == text


def test_grouped_is_exact() -> None:
    assert group_digits(9_176_380) == "9,176,380"
    assert group_digits(None) == "unknown"


def test_the_share_of_nothing_is_none() -> None:
    assert percent(1, 3) == "33.3 %"
    assert percent(0, 0) == "0.0 %"


def test_text_from_outside_cannot_steer_the_terminal() -> None:
    assert one_line("a\x1b[31mb\nc\u202ed") == "a?[31mb?c?d"


def test_long_text_is_shortened() -> None:
    assert one_line("x" * 300, 10) == "xxxxxxx..."


def test_lines_stay_lines() -> None:
    assert lines("one\r\ntwo\x07") == "one\ntwo?"


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (3465792, "1", "3,465,792"),
        (19.6899, "1", "19.690"),
        (9751065.62, "1/s", "9,751,065.620/s"),
        (355427, "us", "355.427 ms"),
        (159.257, "uJ", "159.257 uJ"),
        (9.346, "mW", "9.346 mW"),
        (22928, "B", "22,928 B"),
        (5, "Hz", ""),
        (float("nan"), "us", ""),
    ],
)
def test_in_full_is_what_ambiqs_report_prints(value: float, unit: str, text: str) -> None:
    assert in_full(value, unit) == text


@pytest.mark.parametrize(("given", "joined"), [
    (["element [0, 0]:", "  board 1, PC 2", "64 steps apart"],
     "element [0, 0]: board 1, PC 2; 64 steps apart"),
    (["a,", "b;", "", "c"], "a, b; c"),
    (["one"], "one"),
    ([" ", ""], ""),
])  # fmt: skip
def test_lines_become_one_that_reads_well(given: list[str], joined: str) -> None:
    assert join_lines(given) == joined
