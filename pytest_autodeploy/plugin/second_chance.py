"""The second chance of a test whose board broke: it is run again, and told as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_autodeploy.plugin.collection import Case, uses
from pytest_autodeploy.plugin.owed import forget_judged
from pytest_autodeploy.plugin.services import session_of
from pytest_autodeploy.plugin.state import (
    ARTIFACTS,
    ATTEMPTS,
    BROKE,
    FILES,
    JUDGEMENT,
    OVER_PINS,
    UNJUDGED,
    runtime_of,
)

if TYPE_CHECKING:
    from pytest_autodeploy.base.errors import AutodeployError
    from pytest_autodeploy.board.base import Board

STATUS = "broke"
"""What pytest counts such attempts as, in the last line of a run."""

_OF_ATTEMPT: tuple[pytest.StashKey[Any], ...] = (JUDGEMENT, FILES, UNJUDGED, OVER_PINS, ARTIFACTS)


def protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Run a test, once more when its board broke; None leaves it to others.

    Where pytest-rerunfailures runs tests again, its rerun is the second chance.
    """
    # As pytest-rerunfailures does: pytest (9.2) has no public way to run a test without telling it.
    from _pytest.runner import runtestprotocol

    wanted = uses(item, "evb") and runtime_of(item.config).boards.chances.wanted
    if not wanted or _has_reruns(item):
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports = runtestprotocol(item, nextitem=nextitem, log=False)
    if _tries_again(item, reports):
        _tell(item, next(report for report in reports if report.failed))
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        for report in reports:
            report.rerun = 1  # type: ignore[attr-defined]  # pytest-html parts attempts by it
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def note_broken(item: pytest.Item, case: Case, error: AutodeployError) -> bool:
    """Note that a failed test may be tried once more; says whether it may.

    One that has failed a limit may not: another board would hide it.
    """
    board, judged = board_of(item, case), item.stash.get(JUDGEMENT, None)
    if board is None or not runtime_of(item.config).boards.chances.due(case.key, board, error):
        return False
    if judged is not None and any(row.status == "FAIL" for row in judged.rows):
        return False
    item.stash[BROKE] = board
    return True


def try_again(item: pytest.Item, case: Case) -> None:
    """Before a test: have a board that is fit, also for another attempt after one broke.

    Raises BoardUnavailable when there is none, which is the end of it.
    """
    chances = runtime_of(item.config).boards.chances
    board = item.stash.get(BROKE, None)
    if board is None:
        chances.choose(case.key, board_of(item, case))
        return
    del item.stash[BROKE]
    forget_judged(item)
    for key in _OF_ATTEMPT:
        if key in item.stash:
            del item.stash[key]
    _finish_fixtures(item)
    attempts = item.stash[ATTEMPTS]
    attempts[-1] = replace(attempts[-1], again=chances.take(case.key, board))


def status_of(report: object) -> tuple[str, str, tuple[str, dict[str, bool]]] | None:
    """How the terminal shows an attempt whose board broke, and that a second one followed."""
    if not getattr(report, "autodeploy_board_broke", False):
        return None
    return STATUS, "B", (STATUS.upper(), {"yellow": True})


def _has_reruns(item: pytest.Item) -> bool:
    plugin = item.config.pluginmanager.get_plugin("rerunfailures")
    count = getattr(plugin, "get_reruns_count", None)
    return bool(count and count(item))


def _tries_again(item: pytest.Item, reports: Sequence[pytest.TestReport]) -> bool:
    """Nothing else has failed, and the run goes on."""
    session = item.session
    ends = session.shouldfail or session.shouldstop
    return BROKE in item.stash and sum(r.failed for r in reports) == 1 and not ends


def _tell(item: pytest.Item, report: pytest.TestReport) -> None:
    """Reports of others know the outcome by the name that pytest-rerunfailures gave it."""
    report.outcome = "rerun"  # type: ignore[assignment]
    report.rerun = 0  # type: ignore[attr-defined]
    report.autodeploy_board_broke = True  # type: ignore[attr-defined]
    item.ihook.pytest_runtest_logreport(report=report)


def board_of(item: pytest.Item, case: Case) -> Board | None:
    """The board of a test, which one of a rig may stand behind; None before it was made."""
    session = session_of(item)
    return session.board if session else runtime_of(item.config).boards.made(case.board or "")


def _finish_fixtures(item: pytest.Item) -> None:
    """End the fixtures that rest on the board: what they hold is of the one that broke."""
    definitions = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})
    for definition in definitions.get("evb", ()):
        definition.finish(item._request)  # type: ignore[attr-defined]  # ends dependents first
