"""Classes of failures, so that a rig can tell a broken board, which it may retry, from the rest."""

from __future__ import annotations

from typing import Literal, get_args

from pytest_autodeploy.base.errors import BoardError, BoardRefused, Unsupported

FailureClass = Literal[
    "wrong output",
    "unstable",
    "regression",
    "not comparable",
    "board broke",
    "over a limit",
    "not judged",
    "other",
]
CLASSES: tuple[FailureClass, ...] = get_args(FailureClass)
"""Of a test that fails for more than one reason, the first counts."""

NAMED: tuple[FailureClass, ...] = (*CLASSES[:5], "not judged")
"""Those that the first line of a failure starts with; the others say it in their own words."""


def class_of_error(error: BaseException | None) -> FailureClass:
    """The class of what a test raised; a board that only refused a call is not broken."""
    if isinstance(error, Unsupported):
        return "not judged"
    broke = isinstance(error, BoardError) and not isinstance(error, BoardRefused)
    return "board broke" if broke else "other"


def classify(failure: FailureClass, text: str) -> str:
    """The text of a failure with its class in the first line."""
    return f"{failure}: {text}" if failure in NAMED else text
