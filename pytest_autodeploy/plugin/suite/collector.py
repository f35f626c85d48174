"""Collecting the built-in tests: when they are there, and which of them were asked for."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from pytest_autodeploy.limits.declarations import BY_NAME, DECLARATIONS, REGRESSION
from pytest_autodeploy.limits.declared import written_text
from pytest_autodeploy.plugin.state import settings_of
from pytest_autodeploy.settings.meter_choice import has_meter
from pytest_autodeploy.settings.settings import Settings

SUITE = "autodeploy"
BUILTIN = "pytest_autodeploy.plugin.suite.builtin"
OVER_PINS = "pytest_autodeploy.plugin.suite.over_pins"
ESTIMATE = "npu_estimate"
_SELECTION = re.compile(r"(?:.*/)?(autodeploy(?:::.*)?)", re.DOTALL)
METER = "power_meter"
LABELS = "model_labels"
ARTIFACTS = "autodeploy_artifacts"
ARTIFACT_BOARD = "_autodeploy_artifact_board"


class SuiteModule(pytest.Module):
    """The built-in tests, under the node id ``autodeploy``.

    Their path is the root folder: what the conftest there promises its tests, hooks and fixtures,
    holds for them, too.
    """

    @classmethod
    def of(cls, session: pytest.Session) -> SuiteModule:
        """The collector of the built-in tests."""
        root = session.config.rootpath
        _load_conftest(session.config, root)
        node: SuiteModule = cls.from_parent(session, path=root, name=SUITE, nodeid=SUITE)
        node.obj = importlib.import_module(_module(settings_of(session.config)))
        return node

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        """The tests; estimates need accelerators, energy a meter, accuracy labels.

        Artifacts have to be asked for; those from a characterisation take the place of all tests
        that need a board, unless the command line asks for what only a board can tell.
        """
        settings = settings_of(self.config)
        without, owing = _fixtures_without(settings), _tests_that_owe(settings)
        boardless = settings.artifacts_from and not _asks_for_measurements(settings)
        for node in super().collect():
            fixtures = set(getattr(node, "fixturenames", ()))
            if "evb" in fixtures and (
                boardless or (settings.artifacts_from and ARTIFACTS in fixtures)
            ):
                continue
            if not without & fixtures or getattr(node, "originalname", "") in owing:
                yield node


def _module(settings: Settings) -> str:
    """The tests of a board with RPC, or those of one without."""
    return OVER_PINS if settings.over_pins else BUILTIN


def _load_conftest(config: pytest.Config, folder: Path) -> None:
    """Let pytest know the conftest files of a folder, as it does when it collects that folder.

    A run that is started below the root folder, or that names only built-in tests, does not
    collect it. pytest 8.4 to 9 picks the hooks of a node by its path, and has no public way to
    make a folder known; its own collection (``pytest_make_collect_report``) calls this, too.
    """
    config.pluginmanager._loadconftestmodules(
        folder,
        config.getoption("importmode"),
        config.rootpath,
        consider_namespace_packages=config.getini("consider_namespace_packages"),
    )


def _fixtures_without(settings: Settings) -> set[str]:
    """The fixtures that a run has no use for."""
    needed = {
        ESTIMATE: settings.npu,
        METER: has_meter(settings),
        LABELS: settings.labels,
        ARTIFACTS: settings.artifacts,
        ARTIFACT_BOARD: settings.artifacts_from,
    }
    return {fixture for fixture, wanted in needed.items() if not wanted}


def _asks_for_measurements(settings: Settings) -> bool:
    """Whether a limit or a meter was typed, or baselines are compared with or written.

    Limits of the ini file are those of every run of the project, also of one without a board.
    """
    typed = {name for name, origin in settings.sources.items() if origin.startswith("--")}
    meter = "power" in typed and has_meter(settings)
    baselines = settings.compares or settings.update_baseline is not None
    return meter or baselines or not typed.isdisjoint(settings.limits)


def _tests_that_owe(settings: Settings) -> set[str]:
    """The tests that have to judge a limit of the settings, whatever the run lacks."""
    owing = {BY_NAME[name].suite_test for name in settings.limits}
    named = {
        keyword
        for text, origin in settings.limits.get(REGRESSION.name, ())
        for written in written_text(REGRESSION, text, origin)
        for keyword in written.keywords
    }
    groups = ((each, group) for each in DECLARATIONS for group in each.groups)
    owing |= {g.suite_test or each.suite_test for each, g in groups if g.name in named}
    return owing


def in_suite(item: pytest.Item) -> bool:
    """Whether a test is one of the built-in ones."""
    return item.getparent(SuiteModule) is not None


def take_selection(config: pytest.Config) -> None:
    """Take the node ids of built-in tests, which are no paths, out of pytest's arguments.

    pytest shows the ids relative to its root folder, so they may come back with folders in front.
    """
    selected = [arg for arg in config.args if _SELECTION.fullmatch(arg) and not _is_path(arg)]
    if selected:
        config.option.autodeploy_selection = [_SELECTION.sub(r"\1", arg) for arg in selected]
        config.args[:] = [arg for arg in config.args if arg not in selected]


def _is_path(argument: str) -> bool:
    return Path(argument.partition("::")[0]).exists()


def wants_suite(config: pytest.Config) -> bool:
    """Whether the built-in tests are added: on the option, by their names, or without any name."""
    settings = settings_of(config)
    if settings.no_suite or not settings.tflite:
        return False
    named = getattr(config.option, "autodeploy_selection", None)
    asked = settings.sources["tflite"] == "--tflite" or named
    return bool(asked) or config.args_source is not config.ArgsSource.ARGS


def keep_selection(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the built-in tests that were not named, when some were."""
    selection: list[str] = config.option.autodeploy_selection
    kept: list[pytest.Item] = []
    dropped: list[pytest.Item] = []
    for item in items:
        wanted = not in_suite(item) or any(_names_item(name, item) for name in selection)
        (kept if wanted else dropped).append(item)
    if not any(in_suite(item) for item in kept):
        raise pytest.UsageError(
            f"no built-in test {', '.join(selection)}; {_why_none(settings_of(config))}"
        )
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        items[:] = kept


def _why_none(settings: Settings) -> str:
    if settings.no_suite:
        by = settings.sources.get("no_suite", "--tflite-no-suite")
        return f"{by} leaves the built-in tests out: remove it to run one of them"
    return "is --tflite given?"


def _names_item(name: str, item: pytest.Item) -> bool:
    return name == SUITE or item.nodeid == name or item.nodeid.partition("[")[0] == name
