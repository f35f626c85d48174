"""``autodeploy sim``: a simulated board to play with."""

from __future__ import annotations

from pathlib import Path

import click

from pytest_autodeploy.cli.command import TROUBLE, json_option
from pytest_autodeploy.cli.names import simulated_name


@click.command(short_help="Run a simulated board until Ctrl-C.")
@click.argument("board", callback=simulated_name)
@click.argument("model", required=False, type=click.Path(exists=True, dir_okay=False))
@click.option("--arena-kb", type=click.IntRange(1), metavar="KB", help="Arena of the model.")
@click.option("--tcp", metavar="HOST:PORT", help="Serve on TCP; port 0 is any that is free.")
@click.option("--timing-noise", metavar="NOISE", help="Noise in times: sd=3,outlier=0.1x3,run=2.")
@click.option("--power-noise", metavar="NOISE", help="The same in the power of each window.")
@click.option("--timing-seed", type=int, metavar="N", help="Seed of both kinds of noise.")
@click.option("--slowdown", type=float, metavar="PERCENT", help="How much longer all takes.")
@json_option
@click.pass_context
def sim(
    ctx: click.Context,
    /,
    board: str,
    model: str | None,
    arena_kb: int | None,
    tcp: str | None,
    as_json: bool,
    **noise: str | float | None,
) -> None:
    """Run the simulated BOARD with MODEL until Ctrl-C, and say how to attach pytest to it.

    TFLM's kernels run on this PC behind the RPC of the real boards; times are modelled. With --json
    the only line is {"ready": true, "port": URL, "pid": N}, or {"ready": false, "error": WORDS}.
    """
    from pytest_autodeploy.sim.__main__ import main

    if model is not None:
        _check(Path(model))
    arguments = ["--board", board, "--serve", *(["--json"] if as_json else [])]
    given: dict[str, object] = {"--model": model, "--arena-kb": arena_kb, "--tcp": tcp}
    given |= {f"--{name.replace('_', '-')}": value for name, value in noise.items()}
    for flag, value in given.items():
        arguments += [flag, str(value)] if value is not None else []
    ctx.exit(TROUBLE if main(arguments) else 0)


def _check(path: Path) -> None:
    """Refuse here what the board would only refuse to a host. Raises ModelError."""
    from pytest_autodeploy.model.load import check_runnable, load_model

    check_runnable(load_model(path))
