"""The pytest plugin: options, markers and hooks. The work is done in the modules it calls."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from pytest_autodeploy.plugin.declarations import (
    add_markers,
    add_options,
    answer_old_names,
    marker_names,
)
from pytest_autodeploy.plugin.fixtures import (
    _autodeploy_artifact_board,
    _autodeploy_over_pins,
    _session_overrides,
    autodeploy_artifacts,
    evb,
    evb_options,
    model_inputs,
    model_labels,
    model_session,
    model_session_options,
    npu_estimate,
    power_meter,
    power_meter_options,
    reference,
    tflite_model,
)
from pytest_autodeploy.plugin.state import SETTINGS, USAGE_PROBLEMS

__all__ = [
    "_autodeploy_artifact_board",
    "_autodeploy_over_pins",
    "_session_overrides",
    "autodeploy_artifacts",
    "evb",
    "evb_options",
    "model_inputs",
    "model_labels",
    "model_session",
    "model_session_options",
    "npu_estimate",
    "power_meter",
    "power_meter_options",
    "reference",
    "tflite_model",
]

FIXTURES = {"tflite_model", "evb", "npu_estimate"}
"""The fixtures that are parametrised; a test with one of them concerns this plugin."""


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(
    parser: pytest.Parser, args: list[str]
) -> Generator[None, object, object]:
    """Answer options of AutoDeploy, which argparse would only call unknown.

    When the conftest files are there: one of them may have an option of that name.
    """
    result = yield
    answer_old_names(parser, args)
    return result


def pytest_addoption(parser: pytest.Parser) -> None:
    """Register every option and its ini twin."""
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers; begin a trace; take node ids of built-in tests out of the arguments."""
    add_markers(config)
    if config.option.autodeploy_trace is not None:
        from pytest_autodeploy.plugin.start import trace

        trace(config)
    if any(f"/{name.partition('::')[0]}".endswith("/autodeploy") for name in config.args):
        from pytest_autodeploy.plugin.suite.collector import take_selection

        take_selection(config)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """With ``--autodeploy-check-wiring`` the run checks the lines of the power meter instead."""
    if getattr(config.option, "autodeploy_check_wiring", False):
        from pytest_autodeploy.plugin.wiring import take_over

        take_over(config)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Check the settings before anything is collected or touched."""
    from pytest_autodeploy.plugin.start import start

    start(session)


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Say which boards will answer, and where each value that is not a default came from."""
    from pytest_autodeploy.plugin.start import header

    return header(config)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Add the built-in tests to what the session collects."""
    report = yield
    # A session collects what its arguments name, and the built-in suite has no path to be named
    # by: pytest 9 has no hook that adds a collector, so it is added to the report.
    settings = collector.config.stash.get(SETTINGS, None)
    if isinstance(collector, pytest.Session) and report.passed and settings and settings.tflite:
        from pytest_autodeploy.plugin.suite.collector import SuiteModule, wants_suite

        if wants_suite(collector.config):
            report.result = [*report.result, SuiteModule.of(collector)]
    return report


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object:
    """With ``-n N`` alone, give all tests of a model on a board to one worker."""
    if config.getoption("dist") != "load" or SETTINGS not in config.stash:
        return None
    from pytest_autodeploy.plugin.scheduler import board_scheduling

    return board_scheduling(config, log)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrise the model and the board."""
    if FIXTURES & set(metafunc.fixturenames):
        from pytest_autodeploy.plugin.collection import parametrize

        parametrize(metafunc)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Check the limits of all tests; drop built-in tests that were not asked for."""
    if USAGE_PROBLEMS in config.stash or any(map(_is_ours, items)):
        from pytest_autodeploy.plugin.checks import check_items

        check_items(config, items)
    if getattr(config.option, "autodeploy_selection", None):
        from pytest_autodeploy.plugin.suite.collector import keep_selection

        keep_selection(config, items)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Refuse limits that are declared and that no test of the run can judge."""
    if USAGE_PROBLEMS in session.config.stash:  # pytest calls this hook after those, too
        return
    if any(_concerns(item) for item in session.items):
        from pytest_autodeploy.plugin.checks import check_session

        check_session(session)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """A test of a board that is broken already is not run again and again."""
    if _concerns(item):
        from pytest_autodeploy.plugin import phases

        phases.before_protocol(item)
    return (yield)


@pytest.hookimpl(tryfirst=True, specname="pytest_runtest_protocol")
def pytest_runtest_protocol_again(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Run a test once more whose board broke, where there is another one or a way to revive it."""
    if not _concerns(item):
        return None
    from pytest_autodeploy.plugin import phases

    return phases.protocol(item, nextitem)


@pytest.hookimpl(tryfirst=True)
def pytest_report_teststatus(report: Any) -> object:
    """An attempt whose board broke, and that a second one followed, counts as that."""
    if not hasattr(report, "autodeploy_board_broke"):
        return None
    from pytest_autodeploy.plugin import phases

    return phases.status_of(report)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Check the model before any board is touched."""
    if _concerns(item):
        from pytest_autodeploy.plugin import phases

        phases.before_setup(item)


@pytest.hookimpl(trylast=True, specname="pytest_runtest_setup")
def pytest_runtest_setup_proof(item: pytest.Item) -> None:
    """When the fixtures are there, let the board prove what it runs."""
    if _concerns(item):
        from pytest_autodeploy.plugin import phases

        phases.after_setup(item)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Judge the test's limits after its body."""
    if not _concerns(item):
        return (yield)
    from pytest_autodeploy.plugin.body import run_and_judge

    return (yield from run_and_judge(item))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(
    item: pytest.Item, nextitem: pytest.Item | None
) -> Generator[None, None, None]:
    """Forget what the test has measured; give up a board that the next test does not need."""
    yield
    if _concerns(item):
        from pytest_autodeploy.plugin import phases

        phases.after_teardown(item, nextitem)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Put the record of the test on its report."""
    if not _concerns(item):
        return (yield)
    from pytest_autodeploy.plugin.report import complete_report

    return (yield from complete_report(item, call))


def _concerns(item: pytest.Item) -> bool:
    return bool(FIXTURES & set(getattr(item, "fixturenames", ())))


def _is_ours(item: pytest.Item) -> bool:
    """Whether a test has a fixture or a marker of the plugin."""
    return _concerns(item) or any(mark.name in marker_names() for mark in item.iter_markers())
