"""``autodeploy commission``: whether a board, its link, clocks and meter can be believed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pytest_autodeploy.cli.command import TROUBLE, json_option, print_json, print_lines, progress
from pytest_autodeploy.cli.names import board_name
from pytest_autodeploy.cli.settings import BOARD, setting_options, settings_of

if TYPE_CHECKING:
    from pytest_autodeploy.run.commission.commission import Commissioning
    from pytest_autodeploy.run.commission.rows import Row

_EFFORTS = (
    ("--megabytes", float, 1.0, "of data over the link, each way"),
    ("--calls", int, 1000, "small calls over the link"),
    ("--seconds", float, 10.0, "of work beside this PC's clock, in each clock mode"),
    ("--latencies", int, 1000, "latencies whose spread is judged"),
    ("--resets", int, 10, "times that the board is reset"),
)


def _efforts(command: Any) -> Any:
    for flag, kind, usual, text in reversed(_EFFORTS):
        range_of = click.IntRange(1) if kind is int else click.FloatRange(0, min_open=True)
        command = click.option(
            flag, type=range_of, default=usual, metavar="N", help=f"N {text} (default: {usual:g})."
        )(command)
    return command


@click.command(short_help="Test whether a board, its link, clocks and meter can be believed.")
@click.option("--evb", metavar="NAME", required=True, callback=board_name, help="The board.")
@setting_options(*BOARD, "power")
@_efforts
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(),
    metavar="DIR",
    help="Where commission-BOARD-DATE.zip is put (default: here).",
)
@json_option
@click.pass_context
def commission(ctx: click.Context, /, out: Path, as_json: bool, **given: Any) -> None:
    """Test a board with small models of this package, row by row, and say what to do.

    Ports and permissions first, then identity, link, clocks, outputs, latencies, resets, and the
    power meter where there is one. Rows without sense on a board are not applicable, and told.
    It ends with a zip: rows, versions and what the board answered; no names of users or hosts, and
    no model but ours. The exit code is 0 when no row is red.

    JSON: board, date, serial, source, build_id, green, effort, zip, rows[] with name, expected,
    actual, verdict (pass, FAIL, not applicable or NOT JUDGED) and advice.
    """
    from pytest_autodeploy.base.scratch import Scratch
    from pytest_autodeploy.run.commission.commission import commission as commissioning
    from pytest_autodeploy.run.commission.kept import write_zip
    from pytest_autodeploy.run.commission.rig import Effort
    from pytest_autodeploy.run.commissioned import remember
    from pytest_autodeploy.run.preflight import check_settings

    effort = Effort(
        link_bytes=max(1, round(given.pop("megabytes") * (1 << 20))),
        **{
            name.removeprefix("--"): given.pop(name.removeprefix("--")) for name, *_ in _EFFORTS[1:]
        },
    )
    settings = settings_of(given)
    check_settings(settings, write=False)
    scratch = Scratch("commission")
    try:
        found = commissioning(settings, effort, progress(), recordings=scratch.path)
        path = write_zip(found, scratch.path, out)
    finally:
        scratch.close()
    remember(found.board, settings.evb_probe, found.date, green=found.green)
    if as_json:
        print_json({**found.plain(), "zip": str(path)})
    else:
        print_lines([*_lines(found), f"Wrote {path} ({path.stat().st_size / 1024:.1f} KB)"])
    ctx.exit(0 if found.green else TROUBLE)


def _lines(found: Commissioning) -> list[str]:
    from pytest_autodeploy.base.table import Column, table

    rows = found.rows
    columns = [
        Column("Check", [row.name for row in rows]),
        Column("Verdict", [row.verdict for row in rows]),
        Column("Expected", [row.expected for row in rows]),
        Column("Actual", [row.actual for row in rows]),
    ]
    serial = f", serial {found.serial}" if found.serial else ""
    title = f"{found.board}{serial}, {found.source or 'no answer'}, {found.date}"
    return [title, "", *table(columns), "", *_advice(rows), _result(rows)]


def _advice(rows: Sequence[Row]) -> list[str]:
    return [f"{row.verdict} {row.name}: {row.advice}" for row in rows if row.advice]


def _result(rows: Sequence[Row]) -> str:
    """How many rows ended how."""
    order = ("pass", "FAIL", "NOT JUDGED", "not applicable")
    counts = {verdict: sum(row.verdict == verdict for row in rows) for verdict in order}
    return ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)
