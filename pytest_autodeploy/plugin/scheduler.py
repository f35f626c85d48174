"""Under xdist: which tests go to one worker, so that a model is flashed once to each board."""

from __future__ import annotations

import functools
import re
from typing import Any

import pytest

from pytest_autodeploy.catalog.boards import catalog_specs
from pytest_autodeploy.catalog.kinds import kind_of
from pytest_autodeploy.plugin.state import settings_of
from pytest_autodeploy.settings.settings import Settings


def board_scheduling(config: pytest.Config, log: Any) -> object:
    """A scheduler of xdist for which the tests of a model on a board are one unit of work.

    Any other test is one of its own. A real board, or one behind a port, is one for all workers:
    all of its tests go to the same, unless a rig has several that it may be. The process that
    schedules has only the ids of tests, which say the model and the board. xdist is loaded here, as
    it need not be installed.
    """
    from xdist.scheduler import LoadScopeScheduling

    settings = settings_of(config)

    class BoardScheduling(LoadScopeScheduling):  # type: ignore[misc]  # xdist 3.8 has no types
        def _split_scope(self, nodeid: str) -> str:  # the hook of xdist for such classes
            return group_of(nodeid, settings) or nodeid

    return BoardScheduling(config, log)


def group_of(nodeid: str, settings: Settings) -> str | None:
    """Model and board of a test, or only a board that all workers share; None of other tests."""
    parameters = nodeid.rpartition("[")[2].removesuffix("]") if nodeid.endswith("]") else ""
    lent = _LENT.search(parameters)
    if lent is not None:  # a place is one for all workers; of any place each worker gets its own
        return parameters[: lent.end()] if lent["place"].startswith("+") else lent["board"]
    rig = settings.rig
    found = _pattern(tuple(board.name for board in rig.boards) if rig else ()).search(parameters)
    if found is None:
        return None
    board = found["board"]
    shared = settings.evb_port is not None or kind_of(board).is_hardware
    if rig is not None and (there := rig.of(board)):
        shared = len(there) == 1
    return board if shared else parameters[: found.end()]


_LENT = re.compile(r"(?:^|-)(?P<board>labgrid:(?P<place>\S+))$")
"""A board of a lab at the end of the parameters: names of places may have any letters."""

_NAMES = "|".join(re.escape(spec.name) for spec in catalog_specs())


@functools.cache
def _pattern(rig: tuple[str, ...]) -> re.Pattern[str]:
    """A board among the parameters of a test: of the catalog, or of the kind of another package.

    Those of a rig have its name for them.
    """
    names = "|".join(map(re.escape, sorted(rig, key=len, reverse=True)))
    named = rf"(?:@(?:{names}))?" if rig else ""
    kinds = rf"(?:[a-z0-9_]+:)?(?:{_NAMES}){named}|[a-z0-9_]+:[\w.]+"
    return re.compile(rf"(?:^|-)(?P<board>{kinds})(?=-|$)")
