"""Inputs that notice more than random ones: the same everywhere, and never worse."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from pytest_autodeploy.diagnosis.sensitivity.candidates import (
    FAMILIES,
    RANDOM,
    SAMPLE,
    candidates,
)
from pytest_autodeploy.diagnosis.sensitivity.cover import fewest, greedy
from pytest_autodeploy.diagnosis.sensitivity.measure import sensitivity
from pytest_autodeploy.diagnosis.sensitivity.search import Recipe, made, search
from pytest_autodeploy.limits.sensitivity import STEP
from pytest_autodeploy.limits.tolerance import Tolerance
from pytest_autodeploy.model.graph import Model
from pytest_autodeploy.model.load import load_model
from pytest_autodeploy.model.parse import parse
from pytest_autodeploy.reference.inputs import Inputs, as_inputs, random_inputs
from pytest_autodeploy.reference.runner import Reference
from tests.helpers.support import DIGITS
from tests.helpers.tflite_builder import build_model, operator, tensor

DIGITS_MODEL = load_model(DIGITS)


def loud_classifier() -> Model:
    """A SOFTMAX that is certain of one class unless its input hardly differs from its zero point.

    In front of it a RELU, which inputs from the whole range do not let it notice.
    """
    x = tensor((1, 4), "int8", scale=2.0, name="x")
    kept = tensor((1, 4), "int8", scale=2.0, name="kept")
    classes = tensor((1, 4), "int8", scale=1 / 256, zero_point=-128, name="classes")
    steps = [
        operator("RELU", [x], [kept]),
        operator("SOFTMAX", [kept], [classes], options={"beta": 1.0}),
    ]
    return parse(Path("loud.tflite"), build_model(operators=steps, inputs=[x], outputs=[classes]))


def searched(
    model: Model, *, samples: Inputs | None = None, seconds: float = 100, count: int = 3
) -> Recipe:
    with Reference(model) as reference:
        return search(
            model,
            count,
            1,
            reference.run,
            Tolerance(),
            samples=samples,
            seconds=seconds,
        )


def at_one_step(model: Model, inputs: Inputs) -> int:
    """How many operators these inputs notice at one step."""
    with Reference(model) as reference:
        found = sensitivity(model, inputs, reference.run(inputs), Tolerance())
    return found.counted(STEP).noticed


def test_a_search_finds_inputs_that_notice_what_random_ones_do_not() -> None:
    model = loud_classifier()
    recipe = searched(model)
    inputs = made(model, recipe, 1)
    assert recipe.complete
    assert inputs.count == 3
    assert inputs.origin == "searched, seed 1"
    assert at_one_step(model, random_inputs(model, 3, 1)) == 0
    assert at_one_step(model, inputs) == 1
    assert recipe.before < recipe.noticed <= recipe.things


def test_the_same_is_found_and_made_again() -> None:
    model = loud_classifier()
    first, second = searched(model), searched(model)
    assert first == second
    assert made(model, first, 1).sha256 == made(model, second, 1).sha256
    assert made(model, first, 2).sha256 != made(model, first, 1).sha256


def test_a_search_without_time_gives_random_inputs_and_says_so() -> None:
    model = loud_classifier()
    recipe = searched(model, seconds=0.01)
    assert recipe.names == tuple((RANDOM, number) for number in range(3))
    assert not recipe.complete
    assert made(model, recipe, 1).origin.startswith("searched, seed 1, cut short after 0 of ")


def test_samples_of_a_data_set_are_among_the_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_autodeploy.diagnosis.sensitivity.search.FAMILIES", {})
    model = loud_classifier()
    samples = as_inputs(np.array([[127, 0, 0, 0], [1, 1, 0, 0]], np.int8), model)
    recipe = searched(model, samples=samples)
    place = recipe.names.index((SAMPLE, 1))
    assert (SAMPLE, 0) not in recipe.names
    assert made(model, recipe, 1, samples).arrays[0][place].tolist() == [[1, 1, 0, 0]]


def test_what_is_found_never_notices_less_than_random_inputs() -> None:
    recipe = searched(DIGITS_MODEL)
    assert recipe.noticed >= recipe.before


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "float32", "bool", "int32"])
@pytest.mark.parametrize("family", [RANDOM, *FAMILIES])
def test_a_candidate_fits_its_input(dtype: str, family: str) -> None:
    scale = 0.1 if dtype in ("int8", "uint8", "int16") else None
    zero = 3 if dtype in ("int8", "uint8") else 0
    x = tensor((1, 5, 1, 2), dtype, scale=scale, zero_point=zero, name="x")
    y = tensor((1, 5, 1, 2), dtype, scale=scale, zero_point=zero, name="y")
    content = build_model(operators=[operator("RELU", [x], [y])], inputs=[x], outputs=[y])
    model = parse(Path("x.tflite"), content)
    (drawn,) = candidates(model, [(family, number) for number in range(5)], 1)
    (again,) = candidates(model, [(family, 3)], 1)
    assert (drawn.shape, drawn.dtype) == ((5, 1, 5, 1, 2), np.dtype(dtype))
    assert np.array_equal(drawn[3:4], again)


def test_quiet_inputs_stay_near_the_zero_point() -> None:
    x = tensor((1, 100), "int8", scale=0.1, zero_point=-100, name="x")
    y = tensor((1, 100), "int8", scale=0.1, zero_point=-100, name="y")
    content = build_model(operators=[operator("RELU", [x], [y])], inputs=[x], outputs=[y])
    (drawn,) = candidates(parse(Path("x.tflite"), content), [("quiet", 5)], 1)
    assert np.abs(drawn.astype(int) + 100).max() <= 227 / 64 + 1


def brute_force(noticed_by: dict[str, frozenset[int]], count: int) -> int:
    """The size of the smallest set of inferences that notices all."""
    needs = [by for by in noticed_by.values() if by]
    for size in range(count + 1):
        for chosen in itertools.combinations(range(count), size):
            if all(by & set(chosen) for by in needs):
                return size
    raise AssertionError


@pytest.mark.parametrize("seed", range(20))
def test_the_fewest_inferences_are_really_the_fewest(seed: int) -> None:
    rng = np.random.default_rng(seed)
    noticed_by = {
        f"thing {number}": frozenset(map(int, np.flatnonzero(rng.random(8) < 0.3)))
        for number in range(12)
    }
    chosen, sure = fewest(noticed_by)
    assert sure
    assert len(chosen) == brute_force(noticed_by, 8)
    for cover in (chosen, greedy(noticed_by)):
        assert all(by & set(cover) for by in noticed_by.values() if by)


def test_nothing_to_notice_needs_no_inference() -> None:
    assert fewest({"thing": frozenset()}) == ([], True)
