"""The limits of a test: those of its markers, the command line and the ini file, put together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_autodeploy.limits.accuracy import AccuracyLimit, Task
from pytest_autodeploy.limits.declaration import Declaration
from pytest_autodeploy.limits.declarations import DECLARATIONS, REGRESSION
from pytest_autodeploy.limits.declared import (
    Declared,
    Written,
    declare,
    merge,
    written,
    written_text,
)
from pytest_autodeploy.limits.tolerance import Tolerance
from pytest_autodeploy.plugin.collection import case_of, marked_path
from pytest_autodeploy.plugin.state import settings_of
from pytest_autodeploy.plugin.suite.collector import in_suite
from pytest_autodeploy.settings.settings import Settings

OVER_PINS = "_autodeploy_over_pins"
_LIMITS: pytest.StashKey[tuple[Declared, ...]] = pytest.StashKey()
_LEVELS_A_NODE = 100
"""Classes that a test class may derive from."""


def limits_of(item: pytest.Item) -> tuple[Declared, ...]:
    """The limits of a test, in the order in which they are judged. Raises LimitError.

    Those of a test of the user's own are its markers', and the ini file's; those of a built-in test
    are the command line's and the ini file's, and defaults where nobody said anything.
    """
    if _LIMITS not in item.stash:
        item.stash[_LIMITS] = tuple(_limits(item))
    return item.stash[_LIMITS]


def _limits(item: pytest.Item) -> Iterator[Declared]:
    settings, suite = settings_of(item.config), in_suite(item)
    for declaration in DECLARATIONS:
        usable = _usable(declaration, item)
        every = [*_of_settings(declaration, settings, options=suite)] if usable else []
        if not suite:
            every += _of_markers(declaration, item)
        if usable and not every and (default := _default(declaration, settings, suite=suite)):
            yield default
        yield from (each for each in merge(every) if _is_for(each, item))


def _usable(declaration: Declaration, item: pytest.Item) -> bool:
    """Whether a test has what a limit is judged with; over pins that are time and energy."""
    fixtures = getattr(item, "fixturenames", ())
    if OVER_PINS in fixtures:
        return declaration.suite_test in ("test_energy", "test_latency")
    return declaration.fixture in fixtures


def _default(declaration: Declaration, settings: Settings, *, suite: bool) -> Declared | None:
    """What holds when nobody said anything.

    Tests are compared with baselines where there are some; while they are written, tests of the
    user's own measure as if they were.
    """
    if declaration.default is None:
        return None
    if declaration is not REGRESSION:
        return declare(declaration, "default", **declaration.default) if suite else None
    update = settings.update_baseline is not None
    compared = settings.compares or update or settings.baselines_path.is_dir()
    if suite and compared:
        return declare(declaration, "default", **declaration.default)
    return declare(declaration, "none", **declaration.default) if update else None


def _is_for(declared: Declared, item: pytest.Item) -> bool:
    """Whether a limit is for this test: a budget of another accelerator is not."""
    case = case_of(item)
    accelerator = getattr(declared.limit, "accelerator", None)
    return accelerator is None or case is None or case.board == accelerator


def _of_settings(
    declaration: Declaration, settings: Settings, *, options: bool
) -> Iterator[Written]:
    """Behind all markers: the command line's, for built-in tests only, then the ini file's."""
    for text, origin in settings.limits.get(declaration.name, ()):
        from_ini = origin.startswith("ini")
        if from_ini or options:
            level = _LEVELS_A_NODE**2 + from_ini
            yield from written_text(declaration, text, origin, level)


def _of_markers(declaration: Declaration, item: pytest.Item) -> Iterator[Written]:
    chain = [*reversed(item.listchain())]
    for node, mark in item.iter_markers_with_node(declaration.name):
        level = _LEVELS_A_NODE * (1 + chain.index(node)) + _within(node, mark)
        yield written(declaration, mark.args, mark.kwargs, "marker", level)


def _within(node: Any, mark: pytest.Mark) -> int:
    """The level of a marker among those of its node, the closest to the test first.

    Of a function: added by a hook, of a parameter, its own; of a class: its own, its bases'.
    """
    owner = getattr(node, "obj", None)
    if isinstance(owner, type):
        levels = (n for n, base in enumerate(owner.__mro__) if _has(_marks(base), mark))
        return next(levels, 0)
    if _has(getattr(getattr(node, "callspec", None), "marks", ()), mark):
        return 1
    return 2 if _has(_marks(owner), mark) else 0


def _has(marks: Sequence[Any], mark: pytest.Mark) -> bool:
    return any(getattr(each, "mark", each) is mark for each in marks)


def _marks(owner: object) -> Sequence[Any]:
    marks = getattr(owner, "__dict__", {}).get("pytestmark", [])
    return marks if isinstance(marks, list | tuple) else [marks]


def tolerance_of(item: pytest.Item) -> Tolerance:
    """The first tolerance of a test's outputs, else the default one."""
    limits = (each.limit for each in limits_of(item))
    return next((limit for limit in limits if isinstance(limit, Tolerance)), Tolerance())


def task_of(item: pytest.Item) -> Task:
    """What the accuracy limit of a test judges: the first output and the highest class without."""
    limits = (each.limit for each in limits_of(item))
    return next((limit.task for limit in limits if isinstance(limit, AccuracyLimit)), Task())


def against_path(item: pytest.Item, path: str, origin: str) -> Path:
    """The other model that the PC runs for an accuracy limit."""
    if origin.startswith("marker"):
        return marked_path(path, item)
    return settings_of(item.config).against_path(path, origin)
