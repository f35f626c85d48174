"""Earlier attempts of a test, in words: none of them is hidden by the last one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pytest_autodeploy.base.text import lines, one_line
from pytest_autodeploy.board.again import again_text

if TYPE_CHECKING:
    from pytest_autodeploy.board.again import Again
    from pytest_autodeploy.metrics.record import Attempt, TestRecord
    from pytest_autodeploy.metrics.result import Result

_LENGTH = 200


def flaky_lines(result: Result) -> list[str]:
    """Tests that passed after they had failed, and how they had; after their board broke, how."""
    board = result.board.rig_name or result.board.serial
    return [
        f"FLAKY {one_line(test.nodeid)}: passed {_how(test.attempts, board)}; "
        f"earlier: {attempt_text(test.attempts[-1])}"
        for test in result.tests
        if test.flaky
    ]


def attempt_text(attempt: Attempt) -> str:
    """How an attempt failed, with the board that broke in it."""
    on = f"on {one_line(attempt.board)}: " if attempt.board else ""
    return f"{on}{one_line(next(iter(attempt.message.splitlines()), ''), _LENGTH)}"


def again_of(attempts: Sequence[Attempt]) -> Again | None:
    """How a test was tried once more after its board broke, None when it was not."""
    return next((each.again for each in reversed(attempts) if each.again), None)


def earlier_lines(attempts: Sequence[Attempt]) -> list[str]:
    """A line for each attempt of a test that failed in the last one, too."""
    return [f"attempt {number}: {attempt_text(each)}" for number, each in enumerate(attempts, 1)]


def message_parts(record: TestRecord) -> dict[str, Any]:
    """How a test failed, and earlier attempts of it, for the templates."""
    return {"message": lines(record.message), "attempts": earlier_lines(record.attempts)}


def attempts_remark(attempts: Sequence[Attempt]) -> str:
    """The last attempt in two words, such as ``2nd try`` and ``second board``."""
    again = again_of(attempts)
    if again:
        return again if again == "second board" else f"after a {again}"
    number = len(attempts) + 1
    return f"{number}{'nd' if number == 2 else 'rd' if number == 3 else 'th'} try"


def _how(attempts: Sequence[Attempt], board: str | None) -> str:
    again = attempts[-1].again
    return again_text(again, board) if again else f"in attempt {len(attempts) + 1}"
