"""``autodeploy generate``: the library, examples and apps of a model for a board."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

import click

from pytest_autodeploy.cli.command import TROUBLE, json_option, print_json, print_lines, progress
from pytest_autodeploy.cli.names import board_name
from pytest_autodeploy.cli.settings import BOARD, setting_options, settings_of, tolerance_of

if TYPE_CHECKING:
    from pytest_autodeploy.cli.bench import Bench
    from pytest_autodeploy.deliver.characterization import Characterization
    from pytest_autodeploy.deliver.delivery import Delivery
    from pytest_autodeploy.settings.settings import Settings

_DELIVERY = ("artifacts", "artifacts_from", "evb_model_memory", "evb_arena_memory")


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
    Without --artifacts all are made. The exit code is 1 when an example found wrong outputs.

    JSON: model, board, out, files[], left_out[] (what, why), runtime, footprints[] (of,
    flash_bytes, ram_bytes, parts[] with part, flash_bytes, ram_bytes), example (null, or status,
    output), characterised_on (board, source), arena_bytes.
    """
    from pytest_autodeploy.cli.bench import open_bench
    from pytest_autodeploy.run.preflight import check_folder

    check_folder(Path(out), "--out")
    if given["artifacts"] is None:
        given["artifacts"] = "all"
    settings = settings_of({**given, "tflite": model})
    with open_bench(settings, progress()) as bench:
        found = _characterized(bench, settings)
        delivery = bench.deliver(found, Path(out).resolve())
    if as_json:
        print_json(_plain(delivery, found))
    else:
        print_lines(list(_lines(delivery, found)))
    ctx.exit(0 if delivery.passed else TROUBLE)


def _plain(delivery: Delivery, found: Characterization) -> dict[str, Any]:
    import msgspec

    from pytest_autodeploy.run.artifacts import artifacts_record

    made = artifacts_record(delivery, found, "")
    place = {"board": made.characterised_on, "source": made.characterisation_source}
    return {
        "model": made.model,
        "board": made.board,
        "out": str(delivery.out),
        "files": made.files,
        "left_out": msgspec.to_builtins(made.left_out),
        "runtime": made.runtime or "",
        "footprints": msgspec.to_builtins(made.footprints),
        "example": msgspec.to_builtins(made.example),
        "characterised_on": place,
        "arena_bytes": made.arena_bytes,
    }


def _characterized(bench: Bench, settings: Settings) -> Characterization:
    """Raises BoardError; of a board that is not at hand with what to do instead."""
    from pytest_autodeploy.board.probe import ProbeUnavailable
    from pytest_autodeploy.catalog.kinds import KINDS

    try:
        return bench.characterization(tolerance_of(settings))
    except ProbeUnavailable as error:
        spec = bench.board.spec
        others = [
            kind.prefix + spec.name for kind in KINDS if kind.prefix and spec.is_of(kind.part)
        ]
        instead = (
            f"without the board: --from DIR takes what an earlier run has found out, and "
            f"--board {' or '.join(others)} finds it out on this PC"
        )
        hint = f"{error.hint}\n  {instead}" if error.hint else instead
        raise type(error)(error.what, board=error.board, seconds=error.seconds, hint=hint) from None


def _lines(delivery: Delivery, found: Characterization) -> Iterator[str]:
    from pytest_autodeploy.base.figure import Figure
    from pytest_autodeploy.base.text import one_line
    from pytest_autodeploy.base.units import si
    from pytest_autodeploy.report.artifacts import artifact_figures, footprint_lines
    from pytest_autodeploy.report.terminal import figure_lines
    from pytest_autodeploy.run.artifacts import artifacts_record

    made = artifacts_record(delivery, found, str(delivery.out))
    arena = Figure("Arena", si(found.arena_bytes, "B"), found.place.source)
    yield f"{one_line(delivery.model)} for {delivery.board}: {found.agreement}"
    yield from figure_lines([arena, *artifact_figures(made)], get_terminal_size().columns)
    yield from footprint_lines(made)
