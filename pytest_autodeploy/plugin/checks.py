"""What was collected is checked: the tests' limits, and what collecting has found wrong."""

from __future__ import annotations

import pytest

from pytest_autodeploy.limits.declarations import BY_NAME
from pytest_autodeploy.plugin.collection import add_overrides, problem
from pytest_autodeploy.plugin.owed import check_owed, wrong_limits
from pytest_autodeploy.plugin.problems import refuse
from pytest_autodeploy.plugin.state import USAGE_PROBLEMS


def check_items(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Check the limits of all tests; whatever is wrong ends the run as one usage error."""
    for item in items:
        add_overrides(item)
        if any(item.get_closest_marker(name) for name in BY_NAME):
            for text in wrong_limits(item):
                problem(config, text)
    problems = config.stash.get(USAGE_PROBLEMS, [])
    if problems:
        refuse(config, items, "\n".join(problems))


def check_session(session: pytest.Session) -> None:
    """When all is collected: a limit that no test of the run can judge ends it, too."""
    check_owed(session)
