"""``autodeploy merge``: the results of several runs as those of one."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from pytest_autodeploy.cli.command import TROUBLE, json_option, print_json, print_lines


@click.command(short_help="Make one report of the results of several runs.")
@click.argument("folders", metavar="DIR...", nargs=-1, required=True, type=click.Path(exists=True))
@click.option("--out", metavar="DIR", required=True, type=click.Path(file_okay=False))
@json_option
@click.pass_context
def merge(ctx: click.Context, /, folders: tuple[str, ...], out: str, as_json: bool) -> None:
    """Merge the results folders of shards of a suite into results.json, junit.xml, summary.md and
    report.html below --out.

    Results of a model on the same board become one. The exit code is 1 when a test failed in any
    shard, and when a limit was owed that no test of any shard has judged. A test that ran in two
    shards is told.

    JSON: out, files[], models (how many results), failed[] (test ids), not_judged[], repeated[].
    """
    from pytest_autodeploy.report.merged import write_merged
    from pytest_autodeploy.report.run_lines import run_lines
    from pytest_autodeploy.report.run_table import run_row
    from pytest_autodeploy.report.shards import merge as merge_shards
    from pytest_autodeploy.report.shards import read_shard
    from pytest_autodeploy.report.standing import failing, standing
    from pytest_autodeploy.run.kept_check import check_folder

    check_folder(Path(out), "--out")
    merged = merge_shards([read_shard(Path(folder)) for folder in folders], Path(out))
    files = write_merged(merged, Path(out))
    failed = [test.nodeid for result in merged.results for test in failing(result)]
    if as_json:
        told = {"failed": failed, "not_judged": merged.red, "repeated": list(merged.repeated)}
        written = {"out": out, "files": list(map(str, files)), "models": len(merged.results)}
        print_json({**written, **told})
    else:
        width = shutil.get_terminal_size().columns
        table = run_lines([run_row(result) for result in merged.results], width)
        notes = [f"NOTE {line}" for line in merged.repeated]
        red = [f"NOT JUDGED {line}" for line in merged.red]
        print_lines([*table, *notes, *red, f"Report: {files[-1]}"])
    red_run = any(standing(result).bad for result in merged.results) or merged.unjudged
    ctx.exit(TROUBLE if red_run else 0)
