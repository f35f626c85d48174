"""Around the body of a test: its limits are judged, also where the board could not do all of it."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from pytest_autodeploy.base.errors import Unsupported
from pytest_autodeploy.metrics.failures import classify
from pytest_autodeploy.plugin.judgement import after_call
from pytest_autodeploy.plugin.state import FAILURE, settings_of
from pytest_autodeploy.plugin.suite.collector import in_suite

_ASKED_BY = {"test_latency": "latency_runs", "test_layer_profile": "profile"}
"""Built-in tests that are always there, and the settings that ask for them; others ask by name."""


def run_and_judge(item: pytest.Item) -> Generator[None, None, None]:
    """Run the body, then judge.

    What is raised here fails the test, so that JUnit, HTML and xfail know of it. A gate in the
    summary at the end, as pytest-benchmark 5 has it, leaves them all green.
    """
    refused: Unsupported | None = None
    try:
        yield
    except Unsupported as error:
        refused = error
    after_call(item)
    if refused is not None:
        _tell(item, refused)


def _tell(item: pytest.Item, refused: Unsupported) -> None:
    """End a test whose board could not do what it asked for, when none of its limits is red.

    What was asked for fails: a test of the user's own, and what a setting names. A built-in test
    that nobody has asked for is skipped.
    """
    if in_suite(item) and _is_unasked(item):
        pytest.skip(str(refused))
    item.stash[FAILURE] = "not judged"
    pytest.fail(classify("not judged", str(refused)), pytrace=False)


def _is_unasked(item: pytest.Item) -> bool:
    setting = _ASKED_BY.get(str(getattr(item, "originalname", item.name)))
    return setting is not None and setting not in settings_of(item.config).sources
