"""Collecting: which models and boards a test runs on, and its limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pytest_autodeploy.base.errors import AutodeployError
from pytest_autodeploy.limits.accuracy import AccuracyLimit, Task
from pytest_autodeploy.limits.declarations import (
    DECLARATIONS,
    SETTABLE,
    Declared,
    LimitError,
    declare,
    declare_text,
    limit_key,
    setting_texts,
)
from pytest_autodeploy.model.find import ModelFile, find_models
from pytest_autodeploy.plugin.state import USAGE_PROBLEMS, settings_of
from pytest_autodeploy.plugin.suite.collector import ARTIFACT_BOARD, BUILTIN, ESTIMATE, in_suite
from pytest_autodeploy.settings.settings import SettingError, Settings

OVERRIDES = "_session_overrides"
DEFAULT_TOLERANCE = "output_tolerance"
NO_REGRESSION = "no_regression"


@dataclass(frozen=True)
class Case:
    """The model that a test is parametrised with, and the board, or else the accelerator."""

    model: ModelFile
    board: str | None

    @property
    def key(self) -> tuple[str, str]:
        """Ids of model and board."""
        return self.model.id, self.board or ""


def case_of(item: pytest.Item) -> Case | None:
    """The model and board of a test, None for a test that has nothing to do with models."""
    parameters: Mapping[str, Any] = getattr(getattr(item, "callspec", None), "params", {})
    model = parameters.get("tflite_model")
    board = parameters.get("evb") or parameters.get(ARTIFACT_BOARD) or parameters.get(ESTIMATE)
    return Case(model_file(model, item.config), board) if model else None


def model_file(parameter: ModelFile | str | Path, config: pytest.Config) -> ModelFile:
    """The model of a parameter, which is a path when a test was parametrised by hand."""
    if isinstance(parameter, ModelFile):
        return parameter
    path = config.rootpath / parameter
    return ModelFile(path.stem, path)


def problem(config: pytest.Config, text: str) -> None:
    """Remember a usage error; all are raised when collection is done."""
    problems = config.stash.setdefault(USAGE_PROBLEMS, [])
    if text not in problems:
        problems.append(text)


def parametrize(metafunc: pytest.Metafunc) -> None:
    """Give a test its models and its boards."""
    given = {
        name for mark in metafunc.definition.iter_markers("parametrize") for name in _names(mark)
    }
    if "tflite_model" in metafunc.fixturenames and "tflite_model" not in given:
        files = _models(metafunc)
        metafunc.parametrize(
            "tflite_model", files, ids=[file.id for file in files], indirect=True, scope="session"
        )
    if "evb" in metafunc.fixturenames and "evb" not in given:
        boards = _boards(metafunc)
        metafunc.parametrize("evb", boards, ids=boards, indirect=True, scope="session")
    if ARTIFACT_BOARD in metafunc.fixturenames:
        boards = _boards(metafunc)
        metafunc.parametrize(ARTIFACT_BOARD, boards, ids=boards, indirect=True, scope="session")
    if ESTIMATE in metafunc.fixturenames and ESTIMATE not in given:
        names = _accelerators(metafunc)
        metafunc.parametrize(ESTIMATE, names, ids=names, indirect=True, scope="session")


def _names(mark: pytest.Mark) -> list[str]:
    names = mark.args[0] if mark.args else mark.kwargs.get("argnames", ())
    return names.replace(",", " ").split() if isinstance(names, str) else list(names)


def _models(metafunc: pytest.Metafunc) -> list[ModelFile]:
    config, test = metafunc.config, metafunc.definition.nodeid
    mark = metafunc.definition.get_closest_marker("tflite")
    settings = settings_of(config)
    try:
        if mark is None:
            if settings.tflite:
                return find_models(settings.tflite, settings.root)
            problem(
                config,
                f"{test}: no model; mark it with @pytest.mark.tflite(path) or give --tflite PATH",
            )
            return []
        paths = [_marked_path(path, metafunc.definition) for path in _arguments(mark, 1)]
        return find_models(paths, settings.root)
    except (LimitError, AutodeployError) as error:
        problem(config, f"{test}: {error}")
        return []


def _marked_path(path: str, item: pytest.Item) -> Path:
    """A path of a marker is relative to the test file's folder, else to the root folder."""
    beside = item.path.parent / path
    return beside if beside.exists() else item.config.rootpath / path


def against_path(item: pytest.Item, declared: Declared) -> Path | None:
    """The other model that the PC runs for an accuracy limit, if it names one."""
    against = getattr(declared.limit, "against", None)
    if against is None:
        return None
    if declared.origin == "marker":
        return _marked_path(against, item)
    return settings_of(item.config).against_path(against)


def task_of(limits: Mapping[str, Declared]) -> Task:
    """What the accuracy limit of a test judges: the first output and the highest class without."""
    declared = limits.get("accuracy")
    return declared.limit.task if declared and isinstance(declared.limit, AccuracyLimit) else Task()


def _boards(metafunc: pytest.Metafunc) -> list[str]:
    from pytest_autodeploy.board.select import check_names

    config = metafunc.config
    settings = settings_of(config)
    mark = metafunc.definition.get_closest_marker("evb")
    try:
        names = _arguments(mark, None) if mark else list(settings.evb)
        check_names(names, settings)
        return list(dict.fromkeys(names))
    except (LimitError, SettingError, AutodeployError) as error:
        problem(config, f"{metafunc.definition.nodeid}: {error}")
        return []


def _accelerators(metafunc: pytest.Metafunc) -> list[str]:
    from pytest_autodeploy.catalog.accelerators import check_accelerator

    config, settings = metafunc.config, settings_of(metafunc.config)
    marked = [
        str(mark.kwargs["accelerator"])
        for mark in metafunc.definition.iter_markers("npu_budget")
        if mark.kwargs.get("accelerator")
    ]
    test = metafunc.definition.nodeid
    try:
        names = [check_accelerator(name) for name in marked or settings.npu]
    except AutodeployError as error:
        problem(config, f"{test}: {error}")
        return []
    if not names and metafunc.module.__name__ != BUILTIN:
        how = "@pytest.mark.npu_budget(accelerator=...) or --tflite-npu ACCELERATOR"
        problem(config, f"{test}: no accelerator; give {how}")
    return list(dict.fromkeys(names))


def _arguments(mark: pytest.Mark, count: int | None) -> list[str]:
    signature = {"tflite": "tflite(path)", "evb": "evb(*names)"}[mark.name]
    wrong = mark.kwargs or not mark.args or (count is not None and len(mark.args) != count)
    if wrong or not all(isinstance(argument, str | Path) for argument in mark.args):
        raise LimitError(f"wrong use of the marker {mark.name}; use {signature}")
    return [str(argument) for argument in mark.args]


def limits_of(item: pytest.Item) -> dict[str, Declared]:
    """The limits of a test, the closest of marker, option and ini for each. Raises LimitError.

    Options are for the built-in tests, whose outputs also have a default tolerance.
    """
    settings = settings_of(item.config)
    limits = dict(_limits_of_settings(settings, options=in_suite(item)))
    if in_suite(item):
        limits.setdefault(DEFAULT_TOLERANCE, declare(DEFAULT_TOLERANCE, (), {"lsb": 1}, "default"))
        limits.setdefault(NO_REGRESSION, declare(NO_REGRESSION, (), {}, "default"))
        return limits
    for name in DECLARATIONS:
        for mark in item.iter_markers(name):
            declared = declare(name, mark.args, mark.kwargs, "marker")
            key = limit_key(name, declared.limit)
            if _is_for(declared, item) and not (key in limits and limits[key].origin == "marker"):
                limits[key] = declared
    return limits


def _is_for(declared: Declared, item: pytest.Item) -> bool:
    """Whether a limit is for this test: a budget of another accelerator is not."""
    case = case_of(item)
    accelerator = getattr(declared.limit, "accelerator", None)
    return accelerator is None or case is None or case.board == accelerator


def _limits_of_settings(settings: Settings, *, options: bool) -> Iterator[tuple[str, Declared]]:
    for name in SETTABLE:
        origin = settings.sources.get(name, "default")
        if options or origin.startswith("ini"):
            for text in setting_texts(getattr(settings, name)):
                declared = declare_text(name, text, origin)
                yield limit_key(name, declared.limit), declared


def add_overrides(item: pytest.Item) -> None:
    """Let a test's session take the overrides that hold in the test's own file."""
    names: list[str] = getattr(item, "fixturenames", [])
    if "model_session" in names and OVERRIDES not in names:
        names.insert(0, OVERRIDES)


def _wrong_limits(item: pytest.Item) -> Iterator[str]:
    for name in DECLARATIONS:
        for mark in item.iter_markers(name):
            try:
                declare(name, mark.args, mark.kwargs, "marker")
            except LimitError as error:
                yield str(error)


def check_limits(item: pytest.Item) -> None:
    """Remember what is wrong with a test's limits."""
    wrong = list(_wrong_limits(item))
    for text in wrong:
        problem(item.config, f"{item.nodeid.partition('[')[0]}: {text}")
    if wrong:
        return
    test = item.nodeid.partition("[")[0]
    limits = limits_of(item)
    fixtures: tuple[str, ...] = tuple(getattr(item, "fixturenames", ()))
    for name, declared in limits.items():
        path = against_path(item, declared)
        if path and not path.is_file():
            problem(item.config, f"{test}: {declared.words}: no such model file: {path}")
        fixture = ESTIMATE if name == "npu_budget" else "model_session"
        if declared.origin == "marker" and fixture not in fixtures:
            problem(
                item.config,
                f"{test}: the marker {name} needs the fixture {fixture}; "
                "add it to the test's arguments",
            )
