"""Bisection over the operators of a model."""

from __future__ import annotations

import math

import pytest

from pytest_autodeploy.diagnosis.cuts import first_wrong


@pytest.mark.parametrize("count", [1, 2, 3, 7, 16, 31, 100])
def test_every_wrong_operator_is_found_in_the_logarithm_of_their_number(count: int) -> None:
    for wrong in range(count):
        asked: list[int] = []

        def differs(position: int, wrong: int = wrong, asked: list[int] = asked) -> bool:
            asked.append(position)
            return position >= wrong

        assert first_wrong(count, differs) == (wrong - 1, wrong)
        assert len(asked) <= math.ceil(math.log2(count))


def test_an_error_that_vanishes_on_its_way_is_still_found_where_it_is_made() -> None:
    """After operator 5 the wrong value of operator 3 is clipped away; 11 makes another."""
    wrong_after = {3, 4, 11, 12, 13, 14, 15}
    after, at = first_wrong(16, lambda position: position in wrong_after)
    assert (after, at) in {(2, 3), (10, 11)}


def test_positions_that_cannot_be_known_leave_a_range() -> None:
    """The model cannot be cut after operators 4 to 6; operator 5 is wrong."""

    def differs(position: int) -> bool | None:
        return None if 4 <= position <= 6 else position >= 5

    assert first_wrong(10, differs) == (3, 7)


def test_nothing_can_be_known() -> None:
    assert first_wrong(10, lambda _position: None) == (-1, 9)
