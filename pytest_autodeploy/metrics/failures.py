"""Classes of failures, so that a rig can tell a broken board, which it may retry, from the rest."""

from __future__ import annotations

from typing import Literal

from pytest_autodeploy.base.errors import BoardError, BoardRefused

FailureClass = Literal[
    "wrong output", "regression", "not comparable", "board broke", "over a limit", "other"
]
CLASSES: tuple[FailureClass, ...] = (
    "wrong output",
    "regression",
    "not comparable",
    "board broke",
    "over a limit",
    "other",
)
"""Of a test that fails for more than one reason, the first counts."""

NAMED = CLASSES[:4]
"""Those that the first line of a failure starts with; the others say it in their own words."""


def class_of_error(error: BaseException | None) -> FailureClass:
    """The class of what a test raised; a board that only refused a call is not broken."""
    broke = isinstance(error, BoardError) and not isinstance(error, BoardRefused)
    return "board broke" if broke else "other"


def classified(failure: FailureClass, text: str) -> str:
    """The text of a failure with its class in the first line."""
    return f"{failure}: {text}" if failure in NAMED else text
