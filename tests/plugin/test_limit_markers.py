"""Markers of limits where nothing could measure them, or that are wrong: usage errors."""

from __future__ import annotations

import shutil

import pytest

from tests.helpers.collecting import SIM, TEST_IT, collected, options, refused
from tests.helpers.support import DIGITS


@pytest.fixture(autouse=True)
def models(pytester: pytest.Pytester) -> None:
    """Two models beside the test file."""
    for name in ("digits_cnn", "other"):
        shutil.copy(DIGITS, f"{name}.tflite")


@pytest.mark.parametrize(
    ("marker", "fixture"),
    [
        ("latency_budget(ms=1)", "model_session"),
        ("memory_limit(arena_kb=1)", "model_session"),
        ("output_tolerance(lsb=1)", "model_session"),
        ("energy_limit(uj=1)", "model_session"),
        ("power_limit(mw=1)", "model_session"),
        ("no_regression()", "model_session"),
        ("accuracy(min=0.9)", "model_session"),
        ("npu_budget(ms=1)", "npu_estimate"),
    ],
)
def test_a_limit_needs_what_measures_it(
    pytester: pytest.Pytester, marker: str, fixture: str
) -> None:
    name = marker.partition("(")[0]
    (error,) = refused(pytester, f"@pytest.mark.{marker}\ndef test_it(tmp_path): pass")

    assert error.startswith(f"{TEST_IT}: the marker {name}")
    assert f" needs the fixture {fixture}; " in error


def test_a_limit_of_a_class_is_a_limit_of_its_tests(pytester: pytest.Pytester) -> None:
    test = (
        "@pytest.mark.latency_budget(ms=1)\nclass TestIt:\n"
        "    def test_session(self, model_session): pass\n"
        "    def test_without(self, tmp_path): pass\n"
    )
    (error,) = refused(pytester, test, *options())

    assert error.startswith("test_it.py::TestIt::test_without: the marker latency_budget needs")


def test_what_is_wrong_with_a_test_is_told_once_and_with_every_test(
    pytester: pytest.Pytester,
) -> None:
    test = (
        "@pytest.mark.latency_budget(ms=-1)\ndef test_one(model_session): pass\n"
        "@pytest.mark.memory_limit(flash=1)\ndef test_two(model_session): pass\n"
    )
    errors = refused(pytester, test, *options(SIM, "sim:apollo510_evb"))

    assert [error.partition(": ")[0] for error in errors] == [
        "test_it.py::test_one",
        "test_it.py::test_two",
    ]


def test_the_other_model_of_an_accuracy_limit_is_beside_the_test(pytester: pytest.Pytester) -> None:
    test = "@pytest.mark.accuracy(max_drop=0.1, against={!r})\ndef test_it(model_session): pass"
    found = collected(pytester, test.format("other.tflite"), *options())

    assert found == [f"test_it[digits_cnn-{SIM}]"]
    (error,) = refused(pytester, test.format("gone.tflite"), *options())
    assert "no such model file: " in error
    assert "gone.tflite" in error
