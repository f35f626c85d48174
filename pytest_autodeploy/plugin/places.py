"""Where files of a test are put, from the results folder on."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_autodeploy.plugin.collection import Case, case_of
from pytest_autodeploy.plugin.state import settings_of


def result_place(item: pytest.Item) -> Path:
    """The folder of the results of a test's model and board, at the clock of the run."""
    from pytest_autodeploy.report.results import result_folder

    case = case_of(item)
    assert case is not None
    clock = "LP" if settings_of(item.config).evb_clock == "LP" else ""
    return Path(result_folder(*case.key, clock))


def arrays_place(item: pytest.Item, case: Case, suffix: str = "") -> Path:
    """The ``.npz`` file of a test, among those of its model and board at any clock."""
    from pytest_autodeploy.base.names import file_name

    model, board = map(file_name, case.key)
    return Path(model, board, f"{file_name(item.name)}{suffix}.npz")
