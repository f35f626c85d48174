"""``autodeploy diff``: whether a board computes what the PC does, and if not, why and where."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from pytest_autodeploy.cli.command import TROUBLE, json_option, print_json, print_lines, progress
from pytest_autodeploy.cli.names import board_name
from pytest_autodeploy.cli.settings import BOARD, setting_options, settings_of, tolerance_of

if TYPE_CHECKING:
    from pytest_autodeploy.diagnosis.explanation import Explanation
    from pytest_autodeploy.reference.agreement import Agreement
    from pytest_autodeploy.session.model_session import ModelSession


@click.command(short_help="Say why a board's outputs differ from the PC's, and where it starts.")
@click.argument("model", type=click.Path(exists=True))
@click.option("--evb", metavar="NAME", required=True, callback=board_name, help="The board.")
@setting_options(*BOARD, "inputs", "runs", "seed", "reference", "output_tolerance")
@click.option("--lsb", type=click.FloatRange(0), metavar="N", help="Short for --tolerance lsb=N.")
@json_option
@click.pass_context
def diff(ctx: click.Context, /, model: str, lsb: float | None, as_json: bool, **given: Any) -> None:
    """Run MODEL on a board and on the PC, and explain where their outputs differ.

    It says whether it is the board, the runtime or the PC's own kernels, names the first operator
    that differs, and what to do. The exit code is 0 when the outputs agree.

    JSON: agrees, model (name, sha256), board (id, source), agreement and explanation as in the JSON
    results of pytest.
    """
    from pytest_autodeploy.cli.bench import open_bench
    from pytest_autodeploy.cli.comparison import compare_sides

    if lsb is not None and given["output_tolerance"] is not None:
        raise click.UsageError("--lsb and --tolerance say the same: give one of them.")
    if lsb is not None:
        given["output_tolerance"] = f"lsb={lsb:g}"
    settings = settings_of({**given, "tflite": model})
    with open_bench(settings, progress()) as bench:
        agreement, explanation = compare_sides(bench, tolerance_of(settings))
        if as_json:
            print_json(_plain(bench.session, agreement, explanation))
        else:
            print_lines(list(_lines(bench.session, agreement, explanation)))
    ctx.exit(0 if agreement.passed else TROUBLE)


def _plain(session: ModelSession, agreement: Agreement, explanation: Explanation) -> dict[str, Any]:
    import msgspec

    from pytest_autodeploy.metrics.records.agreement import agreement_record
    from pytest_autodeploy.metrics.records.diagnosis import explanation_record

    return {
        "agrees": agreement.passed,
        "model": {"name": session.model.name, "sha256": session.model.sha256},
        "board": {"id": session.board.id, "source": session.source},
        "agreement": msgspec.to_builtins(agreement_record(agreement)),
        "explanation": msgspec.to_builtins(explanation_record(explanation)),
    }


def _lines(session: ModelSession, agreement: Agreement, explanation: Explanation) -> Iterator[str]:
    from pytest_autodeploy.base.text import one_line
    from pytest_autodeploy.diagnosis.explanation import layer_table, text
    from pytest_autodeploy.reference.agreement import describe, failure_text

    where = f"{one_line(session.model.name)} on {session.board.id} ({session.source})"
    if agreement.passed:
        yield f"{where}: outputs agree with the PC's: {describe(agreement)}"
    else:
        yield f"{where}: outputs differ from the PC's"
        yield failure_text(agreement)
        yield text(explanation)
    if explanation.found.layers:
        yield ""
        yield layer_table(explanation.found.layers)
