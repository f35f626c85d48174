"""``autodeploy report-bug``: one file with all that others need to see what was seen."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pytest_autodeploy.cli.command import TROUBLE, json_option, print_json, print_lines

if TYPE_CHECKING:
    from pytest_autodeploy.run.bug_report import BugReport


@click.command("report-bug", short_help="Collect what a bug report needs in one zip.")
@click.argument(
    "run_dir", type=click.Path(exists=True, file_okay=False, path_type=Path), metavar="RUN_DIR"
)
@click.option(
    "--recording",
    "recordings",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="A recording, or a folder of them, besides those in RUN_DIR. Repeatable.",
)
@click.option("--with-model", is_flag=True, help="Put the models into it, too.")
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="The zip (default: autodeploy-bug-DATE.zip).",
)
@click.option("--yes", is_flag=True, help="Write it without asking.")
@json_option
@click.pass_context
def report_bug(
    ctx: click.Context,
    /,
    run_dir: Path,
    recordings: tuple[Path, ...],
    with_model: bool,
    out: Path | None,
    yes: bool,
    as_json: bool,
) -> None:
    """List what a report of the run with its results in RUN_DIR has, ask, and write it as a zip.

    Results, recordings (--evb-record), versions and what `autodeploy doctor` finds. Names of this
    user and host, and the folders above, are taken out of texts. Models, inputs, outputs and raw
    streams of meters stay here. Nothing is sent anywhere.

    JSON, which needs --yes: file, parts[] with name and bytes, left_out[].
    """
    from pytest_autodeploy.run.bug_report import collect

    if as_json and not yes:
        raise click.UsageError("--json cannot ask: give --yes, too.")
    report = collect(run_dir, _doctor(), recordings, with_model=with_model)
    path = out or Path(f"autodeploy-bug-{datetime.now(UTC):%Y%m%dT%H%M%SZ}.zip")
    if not as_json:
        print_lines(_lines(report, path))
    if not yes and not _agreed():
        print_lines(["nothing was written"])
        ctx.exit(TROUBLE)
    report.write(path)
    if as_json:
        parts = [{"name": part.name, "bytes": len(part.content)} for part in report.parts]
        print_json({"file": str(path), "parts": parts, "left_out": report.left_out})
    else:
        print_lines([f"wrote {path} ({path.stat().st_size / 1024:.1f} KB)"])


def _agreed() -> bool:
    """What the user says; no answer, as without a terminal, is a no."""
    try:
        return click.confirm("Write it?", default=False)
    except click.Abort:
        return False


def _lines(report: BugReport, path: Path) -> list[str]:
    lines = [f"{path} will have:"]
    lines += [f"  {len(part.content):>10,} B  {part.name}" for part in report.parts]
    if report.left_out:
        lines.append("It will not have:")
        lines += [f"  {name}" for name in report.left_out[:40]]
        more = len(report.left_out) - 40
        lines += [f"  and {more} more"] if more > 0 else []
    if not any(part.name.startswith("recordings/") for part in report.parts):
        lines.append("It has no recording: pytest ... --evb-record DIR makes one (--recording DIR)")
    return lines


def _doctor() -> list[dict[str, Any]]:
    """What ``autodeploy doctor`` finds."""
    from pytest_autodeploy.board.order import build_options
    from pytest_autodeploy.cli.settings import settings_of
    from pytest_autodeploy.doctor.check import as_dict
    from pytest_autodeploy.doctor.goals import GOALS

    options = build_options(settings_of({}), None)
    return [as_dict(goal, goal.check(options)) for goal in GOALS]
