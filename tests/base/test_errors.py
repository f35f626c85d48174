"""Every error that a user can see has one root, and is one clear message."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator

import pytest

import pytest_autodeploy
from pytest_autodeploy.base.error_text import text_of
from pytest_autodeploy.base.errors import AutodeployError, ResultsError
from pytest_autodeploy.limits.declaration import LimitError
from pytest_autodeploy.settings.settings import SettingError

INTERNAL = {
    "ArchiveRefused",  # archives from outside: InputsError, ModelError
    *("ChildDiedError", "ChildTimeoutError", "PathFailed"),  # the PC side: ReferenceFailed
    "Garbled",  # what labgrid-client prints: LabError
    "Implausible",  # a characterisation from outside: CharacterizationError
    *("NoRollUp", "TableError", "_Missing"),  # Vela's files: NpuEstimateFailed, or a remark
    *("NoStatistics", "OtherProtocol", "Refusal"),  # replies: WrongFirmware, BoardRefused
    "Refused",  # inside the simulated board: a status of its reply
    "WrongValue",  # documents: CharacterizationError
}
"""Signals between modules: whoever calls them makes something that a user sees of each."""


PROGRAMS = ("pytest_autodeploy.sim.", "pytest_autodeploy.virtual.")
"""Rooms that run in a process of their own: only words of theirs come to a user."""


def exceptions() -> Iterator[type[BaseException]]:
    """Every class of exceptions that the package defines."""
    for module in pkgutil.walk_packages(pytest_autodeploy.__path__, "pytest_autodeploy."):
        if not module.name.endswith("__main__") and not module.name.startswith(PROGRAMS):
            loaded = importlib.import_module(module.name)
            for _, kind in inspect.getmembers(loaded, inspect.isclass):
                if issubclass(kind, Warning) or kind.__module__ != module.name:
                    continue
                if issubclass(kind, BaseException):
                    yield kind


def test_every_error_has_the_root_or_never_leaves_its_room() -> None:
    outside = {kind.__name__ for kind in exceptions() if not issubclass(kind, AutodeployError)}
    assert outside == INTERNAL


@pytest.mark.parametrize("kind", [SettingError, LimitError])
def test_wrong_values_are_value_errors_too(kind: type[AutodeployError]) -> None:
    error = kind("--evb: no", hint="give --evb once")
    assert isinstance(error, ValueError)
    assert str(error) == "--evb: no\n  give --evb once"


def test_an_error_can_be_written_whatever_a_file_is_called() -> None:
    error = AutodeployError("no model: \udcff.tflite", board="\ud800", seconds=1.5, hint="\udc80")
    assert str(error) == "\\ud800: no model: \\udcff.tflite after 1.5 s\n  \\udc80"


def test_an_error_of_ours_is_told_as_it_is_and_a_fault_with_its_place() -> None:
    assert text_of(ResultsError("cannot write x"), "the results") == "cannot write x"
    try:
        pytest_autodeploy.not_there  # type: ignore[attr-defined]  # noqa: B018
    except AttributeError as error:
        words = text_of(error, "the results")
    first, second = words.splitlines()
    assert first.startswith("the results could not be made: AttributeError: ")
    assert "(__init__.py:" in first
    assert "report it" in second
