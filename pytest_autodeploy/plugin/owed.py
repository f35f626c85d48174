"""Which tests owe which limits; what nobody can judge is told before anything runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from pytest_autodeploy.limits.declaration import Declaration, LimitError, Needs
from pytest_autodeploy.limits.declarations import BY_NAME, REGRESSION
from pytest_autodeploy.limits.declared import Declared
from pytest_autodeploy.limits.regression import NoRegression
from pytest_autodeploy.metrics.ledger import Row
from pytest_autodeploy.metrics.metric import not_judged
from pytest_autodeploy.plugin.collection import case_of
from pytest_autodeploy.plugin.limits import against_path, limits_of
from pytest_autodeploy.plugin.problems import refuse
from pytest_autodeploy.plugin.state import UNJUDGED, settings_of
from pytest_autodeploy.plugin.suite.collector import in_suite
from pytest_autodeploy.settings.meter_choice import NO_METER, board_has_meter

Place = tuple[str, tuple[str, str]]
"""A limit's name, and the ids of model and board."""

_LAST: pytest.StashKey[dict[Place, str]] = pytest.StashKey()
_JUDGED: pytest.StashKey[set[Place]] = pytest.StashKey()
_OWN: pytest.StashKey[set[Place]] = pytest.StashKey()
"""What nobody but this test has judged."""


def owes(item: pytest.Item, declared: Declared) -> bool:
    """Whether a test has to judge a limit, and not only if it measures what it needs anyway.

    It has to when its own markers declare it. A limit of the command line or the ini file is owed
    by the built-in test of its metric; of the user's tests by the last of a model and board.
    """
    if declared.by_marker:
        return True
    if in_suite(item):
        declaration = declared.declaration
        return declaration is REGRESSION or declaration.suite_test == _name(item)
    case = case_of(item)
    if case is None or declared.origin == "default":
        return False
    place = (declared.name, case.key)
    last = item.config.stash.get(_LAST, {}).get(place) == item.nodeid
    return last and place not in item.config.stash.get(_JUDGED, set())


def owed_groups(item: pytest.Item) -> frozenset[str]:
    """The groups of `no_regression` that a test has to judge when a setting names them."""
    for declared in limits_of(item):
        if isinstance(declared.limit, NoRegression):
            limit = declared.limit
            if in_suite(item):
                return frozenset(g for g in limit.asked if limit.suite_test(g) == _name(item))
            return limit.asked if owes(item, declared) else frozenset()
    return frozenset()


def note_judged(item: pytest.Item, rows: Sequence[Row]) -> None:
    """Remember what a test has judged, so that a later one need not."""
    case = case_of(item)
    if case is not None:
        judged = item.config.stash.setdefault(_JUDGED, set())
        now = {(row.metric, case.key) for row in rows if row.status in ("pass", "FAIL")}
        item.stash[_OWN] = now - judged
        judged |= now


def forget_judged(item: pytest.Item) -> None:
    """What an attempt has judged that does not count is to be judged again."""
    if _OWN in item.stash:
        own: set[Place] = item.stash[_OWN]
        item.config.stash[_JUDGED] = item.config.stash[_JUDGED] - own


def unjudged_rows(item: pytest.Item, reason: str) -> list[Row]:
    """The rows of what a test owed that ended before anything was judged.

    A test that its own author skips owes nothing but what settings declare.
    """
    title = " on ".join(filter(None, case.key)) if (case := case_of(item)) else "the model"
    return [
        replace(not_judged(declared, title, reason), allowed=UNJUDGED in item.stash)
        for declared in limits_of(item)
        if declared.origin not in ("default", "none") and owes(item, declared)
    ]


def check_owed(session: pytest.Session) -> None:
    """Find the last test that can judge each setting's limit.

    Limits that are declared, and that no test can judge as is known already, are a usage error.
    """
    last: dict[Place, str] = {}
    problems: dict[str, None] = {}
    for item in session.items:
        case = case_of(item)
        if case is None or not set(BY_NAME) & _concerned(item):
            continue
        if not in_suite(item):
            last |= {
                (declared.name, case.key): item.nodeid
                for declared in limits_of(item)
                if could_judge(item, declared.declaration)
            }
        if not settings_of(session.config).may_skip_unjudged:
            problems |= dict.fromkeys(_impossible(item))
    session.config.stash[_LAST] = last
    if problems:
        refuse(session.config, session.items, "\n".join(problems))


def _concerned(item: pytest.Item) -> set[str]:
    """The limits that a test may have: those of the settings, those of its markers."""
    marked = {mark.name for mark in item.iter_markers()}
    return marked | set(settings_of(item.config).limits)


def _impossible(item: pytest.Item) -> Iterator[str]:
    """Why limits that a test owes cannot be judged."""
    for declared, needs in _needs(item):
        reason = unavailable(item, needs)
        if reason:
            yield (
                f"{item.nodeid}: {declared.text} by {declared.origin} cannot be judged: {reason}"
            )


def _needs(item: pytest.Item) -> Iterator[tuple[Declared, Needs]]:
    for declared in limits_of(item):
        limit = declared.limit
        if isinstance(limit, NoRegression):
            groups = limit.asked if declared.by_marker else owed_groups(item)
            yield from ((declared, limit.owners[group].needs) for group in sorted(groups))
        elif declared.by_marker or (in_suite(item) and owes(item, declared)):
            yield declared, declared.declaration.needs


def unavailable(item: pytest.Item, needs: Needs) -> str | None:
    """Why a test cannot have what a limit needs, as far as that is known before it runs."""
    settings, case = settings_of(item.config), case_of(item)
    if needs == "meter" and case and not board_has_meter(case.board or "", settings):
        return f"{case.board}: {NO_METER}"
    return None


def skip_reason(item: pytest.Item) -> str | None:
    """Why a test is skipped on this PC, where ``--autodeploy-unjudged skip`` allows it."""
    if not settings_of(item.config).may_skip_unjudged:
        return None
    return next(
        (
            f"{declared.text} is not judged: {reason}"
            for declared, needs in _needs(item)
            if (reason := unavailable(item, needs))
        ),
        None,
    )


def could_judge(item: pytest.Item, declaration: Declaration) -> bool:
    """Whether a test has the fixtures that judging a limit takes."""
    fixtures = set(getattr(item, "fixturenames", ()))
    extra = {
        "board": True,
        "meter": "power_meter" in fixtures,
        "labels": bool(settings_of(item.config).labels) or "model_labels" in fixtures,
        "accelerator": True,
    }
    return declaration.fixture in fixtures and extra[declaration.needs]


def wrong_limits(item: pytest.Item) -> Iterator[str]:
    """What is wrong with the limits of a test."""
    test = item.nodeid.partition("[")[0]
    try:
        limits = limits_of(item)
    except LimitError as error:
        yield f"{test}: {error}"
        return
    fixtures: tuple[str, ...] = tuple(getattr(item, "fixturenames", ()))
    for declared in limits:
        against = getattr(declared.limit, "against", None)
        if against and not (path := against_path(item, against, declared.origin)).is_file():
            yield f"{test}: {declared.text}: no such model file: {path}"
        fixture = declared.declaration.fixture
        if declared.by_marker and fixture not in fixtures:
            yield (
                f"{test}: the marker {declared.name} needs the fixture {fixture}; "
                "add it to the test's arguments"
            )


def _name(item: pytest.Item) -> str:
    return str(getattr(item, "originalname", item.name))
