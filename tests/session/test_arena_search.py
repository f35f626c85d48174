"""The search for the smallest arena: right to 16 bytes, in few tries, within its bounds."""

from __future__ import annotations

import pytest

from pytest_autodeploy.session.arena_search import STEP_BYTES, Bounds, Least, least_arena
from pytest_autodeploy.session.measured import TunedArena

GIVEN = 1_000_000


DEFAULT = Bounds()


def search(
    needed: int, guess: int, given: int = GIVEN, bounds: Bounds = DEFAULT
) -> tuple[Least, list[int]]:
    """Search where ``needed`` bytes are enough; the sizes that were tried come with it."""
    asked: list[int] = []

    def runs(size: int) -> bool:
        asked.append(size)
        return size >= needed

    return least_arena(runs, guess, given, bounds), asked


@pytest.mark.parametrize("needed", [16, 17, 772, 1_168, 15_680, 52_576, 232_448, GIVEN - 8])
@pytest.mark.parametrize("guess", [0, 16, 772, 15_680, 160_000, GIVEN, 2 * GIVEN])
def test_nothing_smaller_runs(needed: int, guess: int) -> None:
    found, asked = search(needed, guess)
    assert found.bytes - STEP_BYTES < needed <= found.bytes
    assert found.exact
    assert found.tries == len(asked) == len(set(asked))
    assert all(size % STEP_BYTES == 0 for size in asked)


def test_a_right_guess_takes_two_tries() -> None:
    found, asked = search(15_680, 15_680)
    assert asked == [15_680, 15_664]
    assert found == Least(15_680, 15_664, 2)


@pytest.mark.parametrize(("needed", "guess", "most"), [(1_168, 772, 9), (232_448, 160_768, 25)])
def test_tries_grow_with_the_logarithm_of_the_error(needed: int, guess: int, most: int) -> None:
    assert search(needed, guess)[0].tries <= most


def test_a_model_that_needs_all_it_was_given_keeps_it() -> None:
    found, _ = search(5_000, 4_990, given=5_000)
    assert (found.bytes, found.exact) == (5_000, True)


def test_the_number_of_tries_is_bounded_and_what_ran_is_told() -> None:
    found, asked = search(500_000, 1_000, bounds=Bounds(tries=5))
    assert len(asked) == found.tries == 5
    assert not found.exact
    assert found.failed_bytes < 500_000 <= found.bytes


def test_after_its_seconds_no_try_is_begun() -> None:
    times = iter([0.0, *[1.0] * 3, *[99.0] * 9])
    tried: list[int] = []
    found = least_arena(
        lambda size: tried.append(size) or size >= 500_000,  # type: ignore[func-returns-value]
        1_000,
        GIVEN,
        Bounds(seconds=10),
        lambda: next(times),
    )
    assert len(tried) == found.tries == 4
    assert found.bytes == GIVEN


def test_from_a_guess_that_is_too_small_jumps_double_and_the_gap_is_halved() -> None:
    _, asked = search(1_300, 1_000)
    assert asked == [1_008, 1_072, 1_200, 1_456, 1_328, 1_264, 1_296, 1_312]


def test_from_a_guess_that_is_too_large_jumps_double_from_one_step() -> None:
    _, asked = search(900, 1_000)
    assert asked == [1_008, 992, 960, 896, 928, 912]


def test_a_guess_beyond_what_is_given_is_not_tried() -> None:
    found, asked = search(1_000, 2_000, given=1_008)
    assert asked == [992]
    assert found == Least(1_008, 992, 1)


@pytest.mark.parametrize(("failed", "exact"), [(1_008, True), (1_007, False), (992, False)])
def test_a_size_is_exact_one_step_above_one_that_failed(failed: int, exact: bool) -> None:
    assert Least(1_024, failed, 3).exact is exact
    assert TunedArena(1_024, 3, "measured", failed).exact is exact


def test_a_search_is_over_at_its_last_try_and_at_its_time() -> None:
    found, asked = search(500_000, 500_000, bounds=Bounds(tries=1))
    assert (found.tries, len(asked)) == (1, 1)
    assert (
        least_arena(lambda _size: True, 500_000, GIVEN, Bounds(seconds=0.0), lambda: 9.0).tries == 1
    )
    assert Bounds() == Bounds(tries=32, seconds=120)


def test_each_try_is_logged_with_how_it_ended(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("DEBUG"):
        search(1_000, 1_000)
    assert caplog.messages == [
        "an arena of 1008 bytes runs",
        "an arena of 992 bytes does not run",
    ]
