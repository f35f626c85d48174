"""What ``autodeploy boards --health`` prints."""

from __future__ import annotations

from pathlib import Path

from pytest_autodeploy.cli.command import plain_data, print_json, print_lines


def print_health(history: Path, *, as_json: bool) -> None:
    """Print each board over the runs of a history. Raises HistoryError."""
    from pytest_autodeploy.base.table import table
    from pytest_autodeploy.baseline.history import History
    from pytest_autodeploy.report.health import health_columns

    found = History(history).health()
    if as_json:
        print_json({"health": [plain_data(each) for each in found]})
    elif found:
        print_lines(table(health_columns(found)))
    else:
        print_lines([f"{history} has no run that says what its boards went through."])
