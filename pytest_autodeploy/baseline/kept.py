"""What is kept of a run, when it was asked for: its baselines and its line in the history."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from datetime import datetime
from importlib.metadata import version

from pytest_autodeploy.baseline.commit import current_commit
from pytest_autodeploy.baseline.history import History, Run
from pytest_autodeploy.baseline.measured import measured_by
from pytest_autodeploy.baseline.update import Update, update_baselines
from pytest_autodeploy.board.use import added_up
from pytest_autodeploy.limits.declarations import default_regression
from pytest_autodeploy.metrics.record import TestRecord
from pytest_autodeploy.settings.settings import Settings


def keep_baselines(records: Sequence[TestRecord], settings: Settings) -> Update:
    """Update the baselines of the settings, in their mode, by the records of a run."""
    return update_baselines(
        records,
        settings.baselines_path,
        settings.rootdir,
        mode=settings.update_baseline or "all",
        plugin_version=version("pytest-autodeploy"),
        limit=default_regression(),
    )


def keep_in_history(
    records: Sequence[TestRecord], settings: Settings, command: str, began: datetime
) -> None:
    """Add the run to the history file of the settings, if there is one. Raises HistoryError."""
    if settings.history_path is None:
        return
    run = Run(
        began.isoformat(timespec="seconds"),
        current_commit(settings.rootdir),
        command,
        version("pytest-autodeploy"),
        settings.run_id or "",
        platform.node(),
    )
    history = History(settings.history_path)
    uses = added_up(use for record in records for use in record.uses)
    history.add(run, measured_by(records), settings.history_keep, uses)
