"""What ``autodeploy boards --rig`` prints and changes: boards with their state, out and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from pytest_autodeploy.cli.command import plain_data, print_json, print_lines

if TYPE_CHECKING:
    from pytest_autodeploy.board.pool import Standing

Command = TypeVar("Command", bound=Callable[..., Any])

rig_option = click.option(
    "--rig",
    "--evb-rig",
    "rig",
    metavar="FILE",
    envvar="AUTODEPLOY_RIG",
    type=click.Path(path_type=Path),
    help="Rig file: the boards that there are, in TOML (or $AUTODEPLOY_RIG).",
)


def rig_options(command: Command) -> Command:
    """The options of a command that shows a rig and changes which of its boards are used."""
    for flag, what in (
        ("--put-back", "Let runs use a board of the rig again."),
        ("--take-out", "Let no run use a board of the rig; one that has it now keeps it."),
    ):
        command = click.option(flag, metavar="NAME", help=what)(command)
    reason = click.option("--reason", metavar="TEXT", default="", help="Why it is taken out.")
    return rig_option(reason(command))


@dataclass(frozen=True)
class Change:
    """A board of a rig that is to be taken out, and why, or to be put back."""

    take_out: str | None
    put_back: str | None
    reason: str

    def make(self, rig: Path | None, *, as_json: bool) -> None:
        """Change it, and print that and the rig. Raises RigError, RigStateError and the like."""
        from pytest_autodeploy.board.pool import Pool
        from pytest_autodeploy.catalog.rig import read_rig

        if rig is None:
            raise click.UsageError("give the rig file: --rig FILE, or $AUTODEPLOY_RIG")
        if self.reason and self.take_out is None:
            raise click.UsageError("--reason is that of --take-out NAME")
        pool = Pool(read_rig(rig))
        lines = [*self._taken(pool), *self._back(pool)]
        standings = pool.standings()
        if as_json:
            print_json({"rig": [_plain(each) for each in standings]})
        else:
            print_lines([*lines, *_table(standings)])

    def _taken(self, pool: Any) -> list[str]:
        if self.take_out is None:
            return []
        name = pool.rig.named(self.take_out).name
        pool.state.take_out(name, reason=self.reason)
        return [f"{name} is taken out: no run will use it until --put-back {name}."]

    def _back(self, pool: Any) -> list[str]:
        if self.put_back is None:
            return []
        name = pool.rig.named(self.put_back).name
        before = pool.state.put_back(name)
        what = f"is back; it was out {before.text}" if before else "was not taken out"
        return [f"{name} {what}."]


NO_CHANGE = Change(None, None, "")


def _table(standings: Sequence[Standing]) -> list[str]:
    from pytest_autodeploy.base.table import Column, table

    boards = [standing.board for standing in standings]
    columns = [
        Column("Board", [board.name for board in boards]),
        Column("--evb", [board.type for board in boards]),
        Column("Port", [board.port or "" for board in boards]),
        Column("Probe", [board.probe or "" for board in boards]),
        Column("Meter", [board.meter or "" for board in boards]),
        Column("State", [standing.text for standing in standings]),
    ]
    return table([column for column in columns if any(column.cells)])


def _plain(standing: Standing) -> dict[str, Any]:
    return {**plain_data(standing), "state": standing.state, "text": standing.text}
