"""Steps of an explanation, of which one that fails is told and does not end the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from pytest_autodeploy.base.errors import AutodeployError
from pytest_autodeploy.base.text import one_line

T = TypeVar("T")


def tried(what: str, problems: list[str], step: Callable[[], T]) -> T | None:
    """What a step gives; None when it fails, and then ``problems`` has why."""
    try:
        return step()
    except AutodeployError as error:
        problems.append(f"{what}: {one_line(error.what)}")
        return None
