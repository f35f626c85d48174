"""Collecting: which models and boards a test runs on."""

from __future__ import annotations

import glob
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pytest_autodeploy.base.errors import AutodeployError, ModelError
from pytest_autodeploy.limits import npu
from pytest_autodeploy.limits.declaration import LimitError
from pytest_autodeploy.limits.declared import written_text
from pytest_autodeploy.model.find import ModelFile, find_models, named
from pytest_autodeploy.plugin.state import USAGE_PROBLEMS, settings_of
from pytest_autodeploy.plugin.suite.collector import ARTIFACT_BOARD, BUILTIN, ESTIMATE, OVER_PINS
from pytest_autodeploy.settings.settings import SettingError, Settings

OVERRIDES = "_session_overrides"
FIXTURES = "pytest_autodeploy.plugin.fixtures"
REPLACED = (
    "the fixture tflite_model of {} replaces that of pytest-autodeploy, which has to know the file"
    " when tests are collected\n"
    "  write the model to a file when the module is imported, and mark the test with"
    " @pytest.mark.tflite(path)"
)


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


def uses(item: pytest.Item, fixture: str) -> bool:
    """Whether a test needs a fixture."""
    return fixture in getattr(item, "fixturenames", ())


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
    if "tflite_model" in metafunc.fixturenames and (place := _replaced_in(metafunc)):
        problem(metafunc.config, f"{metafunc.definition.nodeid}: {REPLACED.format(place)}")
    elif "tflite_model" in metafunc.fixturenames and "tflite_model" not in given:
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


def _replaced_in(metafunc: pytest.Metafunc) -> str:
    """The file of a project's own fixture ``tflite_model``, which ours would not work with."""
    info = getattr(metafunc.definition, "_fixtureinfo", None)
    found = info.name2fixturedefs.get("tflite_model", ()) if info else ()
    code = getattr(found[-1].func, "__code__", None) if found else None
    own = getattr(found[-1].func, "__module__", "") == FIXTURES if found else True
    return "" if own or code is None else f"{code.co_filename}:{code.co_firstlineno}"


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
                return named(find_models(settings.tflite, settings.root), settings.name)
            problem(
                config,
                f"{test}: no model; mark it with @pytest.mark.tflite(path) or give --tflite=PATH",
            )
            return []
        if missing := _missing(_arguments(mark, 1)[0], metafunc.definition):
            return [missing]
        paths = [marked_path(path, metafunc.definition) for path in _arguments(mark, 1)]
        return find_models(paths, settings.root)
    except (LimitError, AutodeployError) as error:
        problem(config, f"{test}: {error}")
        return []


def marked_path(path: str, item: pytest.Item) -> Path:
    """A path of a marker is relative to the test file's folder, else to the root folder."""
    beside = item.path.parent / path
    return beside if beside.exists() else item.config.rootpath / path


def _missing(path: str, item: pytest.Item) -> ModelFile | None:
    """The model of a marker whose file is at neither place: its test fails, others run on."""
    places = (item.path.parent / path, item.config.rootpath / path)
    if glob.has_magic(path) or any(place.exists() for place in places):
        return None
    searched = " and ".join(str(place.parent) for place in dict.fromkeys(places))
    error = ModelError(
        f"no such model file: {path}",
        hint=f"searched in {searched}: a marker's path starts at its test's folder, or at the root",
    )
    return ModelFile(places[0].stem, places[0], missing=error)


def _boards(metafunc: pytest.Metafunc) -> list[str]:
    from pytest_autodeploy.board.select import check_names

    config = metafunc.config
    settings = settings_of(config)
    mark = metafunc.definition.get_closest_marker("evb")
    try:
        typed = _arguments(mark, None) if mark else list(settings.evb)
        names = [settings.board_id(name) for name in typed]
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
    builtin = metafunc.module.__name__ in (BUILTIN, OVER_PINS)
    test = metafunc.definition.nodeid
    try:
        limited = _limited_accelerators(settings) if builtin else []
        names = [check_accelerator(name) for name in marked or [*settings.npu, *limited]]
    except (AutodeployError, LimitError) as error:
        problem(config, f"{test}: {error}")
        return []
    if not names and (not builtin or npu.DECLARATION.name in settings.limits):
        how = "--tflite-npu ACCELERATOR"
        how = how if builtin else f"@pytest.mark.npu_budget(accelerator=...) or {how}"
        problem(config, f"{test}: no accelerator; give {how}")
    return list(dict.fromkeys(names))


def _limited_accelerators(settings: Settings) -> list[str]:
    """The accelerators that budgets of the settings name."""
    written = (
        each
        for text, origin in settings.limits.get(npu.DECLARATION.name, ())
        for each in written_text(npu.DECLARATION, text, origin)
    )
    return [str(each.keywords["accelerator"]) for each in written if "accelerator" in each.keywords]


def _arguments(mark: pytest.Mark, count: int | None) -> list[str]:
    signature = {"tflite": "tflite(path)", "evb": "evb(*names)"}[mark.name]
    wrong = mark.kwargs or not mark.args or (count is not None and len(mark.args) != count)
    if wrong or not all(isinstance(argument, str | Path) for argument in mark.args):
        raise LimitError(f"wrong use of the marker {mark.name}; use {signature}")
    return [str(argument) for argument in mark.args]


def add_overrides(item: pytest.Item) -> None:
    """Let a test's session take the overrides that hold in the test's own file."""
    names: list[str] = getattr(item, "fixturenames", [])
    if "model_session" in names and OVERRIDES not in names:
        names.insert(0, OVERRIDES)
