"""``autodeploy generate``: the library, examples and apps of a model for a board."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pytest_autodeploy.cli.command import TROUBLE, json_option, print_json, print_lines, progress
from pytest_autodeploy.cli.names import board_name
from pytest_autodeploy.cli.settings import BOARD, setting_options, settings_of, tolerance_of
from pytest_autodeploy.settings.deliver_options import ALL

_BUILD = ("evb_tflm_memory", "evb_reserve", "evb_arena_padding", "evb_ambiqsuite")
_DELIVERY = ("artifacts", "artifacts_from", "name", "evb_model_memory", "evb_arena_memory", *_BUILD)


@click.command(short_help="Make library, examples and apps of a model for a board.")
@click.argument("model", type=click.Path(exists=True))
@click.option("--board", "--evb", "evb", metavar="NAME", required=True, callback=board_name)
@click.option("--out", metavar="DIR", required=True, type=click.Path(file_okay=False))
@setting_options(*_DELIVERY, *BOARD, "inputs", "runs", "output_tolerance")
@json_option
@click.pass_context
def generate(ctx: click.Context, /, model: str, out: str, as_json: bool, **given: Any) -> None:
    """Make the artifacts of MODEL for a board, below the folder --out.

    The model is first characterised on that board: run, compared with the PC, its arena measured.
    With --from that has been done on another board, and none is touched. Sources are always
    written, binaries where toolchain and SDK are there; what was left out is said, with the reason.
    Without --artifacts all are made, as far as they can be. The exit code is 1 when an example
    found wrong outputs, or when something that --artifacts names could not be made.

    JSON: model, board, out, files[], left_out[] (what, why), runtime, footprints[] (of,
    flash_bytes, ram_bytes, parts[] with part, flash_bytes, ram_bytes), example (null, or status,
    output), characterised_on (board, source), arena_bytes.
    """
    from pytest_autodeploy.cli.bench import open_bench
    from pytest_autodeploy.cli.delivery import characterization, deliver
    from pytest_autodeploy.cli.delivery_text import as_lines, as_plain
    from pytest_autodeploy.run.kept_check import check_folder

    check_folder(Path(out), "--out")
    if given["artifacts"] is None:
        given["artifacts"] = ALL
    settings = settings_of({**given, "tflite": model})
    with open_bench(settings, progress()) as bench:
        found = characterization(bench, tolerance_of(settings))
        delivery = deliver(bench, found, Path(out).resolve())
    if as_json:
        print_json(as_plain(delivery, found))
    else:
        print_lines(list(as_lines(delivery, found)))
    missing = delivery.not_made(settings.artifacts_owed)
    if missing:
        click.echo(f"Error: {missing}", err=True)
    ctx.exit(0 if delivery.passed and not missing else TROUBLE)
