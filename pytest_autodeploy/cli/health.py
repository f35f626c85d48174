"""What boards went through, and which are in quarantine, as ``autodeploy boards`` tells it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from pytest_autodeploy.cli.command import plain_data, print_json, print_lines

Command = TypeVar("Command", bound=Callable[..., Any])


def state_options(command: Command) -> Command:
    """The options of the command that `State` is made of."""
    for add in (
        click.option("--lift", metavar="NAME", help="Let runs use a board of --quarantine again."),
        click.option(
            "--quarantine",
            metavar="FILE",
            type=click.Path(dir_okay=False, path_type=Path),
            help="The boards that runs have taken out (--evb-quarantine).",
        ),
        click.option(
            "--health",
            metavar="HISTORY",
            type=click.Path(exists=True, dir_okay=False, path_type=Path),
            help="What each board went through in the runs of a history (--autodeploy-history).",
        ),
    ):
        command = add(command)
    return command


@dataclass(frozen=True)
class State:
    """What was asked of runs: the health of boards by a history, a quarantine, one to ``lift``."""

    health: Path | None = None
    quarantine: Path | None = None
    lift: str | None = None

    def show(self, *, as_json: bool) -> None:
        """Print it. Raises HistoryError, SettingError, RigStateError, click.UsageError."""
        if self.health is not None:
            print_health(self.health, as_json=as_json)
            return
        from pytest_autodeploy.cli.quarantine import quarantine_command

        quarantine_command(self.quarantine, self.lift, as_json=as_json)


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
