"""``autodeploy baseline``: what the baselines of a project say, and the last run against them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pytest_autodeploy.base.errors import ResultsError
from pytest_autodeploy.cli.command import json_option, plain_data, print_json, print_lines

if TYPE_CHECKING:
    from pytest_autodeploy.baseline.format import Baseline, Entry
    from pytest_autodeploy.metrics.record import TestRecord

FOLDER = click.option(
    "--baselines",
    type=click.Path(path_type=Path),
    default=Path("autodeploy-baselines"),
    help="Folder of the baselines.",
    show_default=True,
)
RESULTS = click.option(
    "--results",
    type=click.Path(path_type=Path),
    default=Path("autodeploy-results"),
    help="Folder of the results of the last run.",
    show_default=True,
)


@click.group(short_help="Show baselines, hold the last run against them, or accept it.")
def baseline() -> None:
    """What the baselines of a project say; run it in the project's root folder.

    JSON, of each command with --json: show: baselines[] with path, model, file, entries (by clock);
    diff: results[] with model, board, comparison (state, rows[], layers[], reasons[], ...);
    accept: lines[], problems[].
    """


@baseline.command(short_help="List the values of all baselines.")
@FOLDER
@json_option
def show(baselines: Path, as_json: bool) -> None:
    """List the values that are kept for each model on each type of board."""
    from pytest_autodeploy.baseline.last_run import baseline_files
    from pytest_autodeploy.baseline.store import read_baseline

    files = [(path, read_baseline(path)) for path in baseline_files(baselines)]
    found = [(path, kept) for path, kept in files if kept is not None]
    if not found:
        raise ResultsError(f"no baseline in the folder {baselines}", hint=_MAKE)
    if as_json:
        print_json({"baselines": [{"path": str(path), **plain_data(kept)} for path, kept in found]})
        return
    print_lines([line for path, kept in found for line in (*_shown(path, kept), "")][:-1])


@baseline.command(short_help="Hold the last run against the baselines.")
@FOLDER
@RESULTS
@json_option
@click.pass_context
def diff(ctx: click.Context, baselines: Path, results: Path, as_json: bool) -> None:
    """Hold each result of the last run against its baseline.

    Ends with 1 when one is worse, has no baseline or cannot be compared.
    """
    from pytest_autodeploy.base.table import table
    from pytest_autodeploy.baseline.comparison_text import headline, rows_table
    from pytest_autodeploy.baseline.last_run import held_against
    from pytest_autodeploy.baseline.measured import title_of
    from pytest_autodeploy.limits.declarations import default_regression

    found = [
        (record, held_against(record, baselines, Path.cwd(), default_regression()))
        for record in _records(results)
    ]
    if as_json:
        named = [(record.model.id, record.board.id, each) for record, each in found]
        plain = [{"model": m, "board": b, "comparison": plain_data(each)} for m, b, each in named]
        print_json({"results": plain})
    else:
        for record, comparison in found:
            rows = table(rows_table(comparison.rows)) if comparison.rows else []
            head = f"{title_of(record)}: {headline(comparison)}"
            print_lines([head, *(f"  {line}" for line in rows)])
    if any(comparison.state not in ("within", "improved") for _, comparison in found):
        ctx.exit(1)


@baseline.command(short_help="Make the last run the new baseline.")
@FOLDER
@RESULTS
@json_option
@click.pass_context
def accept(ctx: click.Context, baselines: Path, results: Path, as_json: bool) -> None:
    """Replace the baselines of what ran and passed in the last run.

    Noisy values of few repeats are no baseline: pytest --autodeploy-update-baseline measures more.
    Ends with 1 when something could not be accepted, which is told.
    """
    from pytest_autodeploy.baseline.update import update_baselines
    from pytest_autodeploy.limits.declarations import default_regression

    update = update_baselines(
        list(_records(results)),
        baselines,
        Path.cwd(),
        mode="all",
        plugin_version=version("pytest-autodeploy"),
        limit=default_regression(),
        as_measured=True,
    )
    if as_json:
        print_json({"lines": update.lines, "problems": update.problems})
    else:
        print_lines([*update.lines, *(f"ERROR: {problem}" for problem in update.problems)])
    if update.problems or any(": not updated, " in line for line in update.lines):
        ctx.exit(1)


@baseline.command(short_help="Keep the baselines of now under a name, such as a release's.")
@click.argument("name")
@FOLDER
def keep(name: str, baselines: Path) -> None:
    """Copy the baselines of now to NAME; --autodeploy-baseline-against NAME compares with them.

    Ends with 1 when there is that name already, or nothing to keep.
    """
    from pytest_autodeploy.baseline.last_run import baseline_files
    from pytest_autodeploy.baseline.store import keep_named

    files = list(baseline_files(baselines))
    if not files:
        raise ResultsError(f"no baseline in the folder {baselines}", hint=_MAKE)
    try:
        folder = keep_named(files, baselines, name)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None
    print_lines([f"kept {len(files)} baseline{'' if len(files) == 1 else 's'} in {folder}"])


_MAKE = "make one with pytest --tflite=PATH --autodeploy-update-baseline, or name it"


def _records(results: Path) -> Iterator[TestRecord]:
    """The results of boards in a folder. Raises ResultsError without any."""
    from pytest_autodeploy.baseline.last_run import record_of
    from pytest_autodeploy.report.result_json import parse_result

    paths: Sequence[Path] = sorted(results.glob("*/*/result.json"))
    if not paths:
        raise ResultsError(f"no result in the folder {results}", hint="run pytest --tflite=PATH")
    for path in paths:
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ResultsError(f"cannot read {path}: {error}", hint="run pytest again") from error
        result = parse_result(text, str(path))
        if result.npu is None:
            yield record_of(result)


def _shown(path: Path, kept: Baseline) -> Iterator[str]:
    yield f"{path}: {kept.model}, {kept.file}"
    for clock, entry in kept.entries.items():
        conditions = entry.conditions
        yield f"  {clock}  {conditions.source}, {conditions.core}, {conditions.engine}"
        yield from _values(entry)


def _values(entry: Entry) -> Iterator[str]:
    from pytest_autodeploy.baseline.comparison_text import repeats_text, value_text

    for name, metric in sorted(entry.metrics.items()):
        repeats = f", {repeats_text(metric)}" if metric.repeats > 1 else ""
        yield f"    {name:<16} {value_text(metric.value, metric.unit)} ({metric.source}{repeats})"
    if entry.layers:
        yield f"    layers           {len(entry.layers.layers)}, {entry.layers.run} inference"
