"""``autodeploy inspect``: what a model's file says, and which boards have room for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pytest_autodeploy.cli.command import TROUBLE, json_option, print_json, print_lines
from pytest_autodeploy.cli.settings import settings_of

if TYPE_CHECKING:
    from pytest_autodeploy.model.find import ModelFile

Plain = Mapping[str, Any]


@click.command(short_help="Say what is in models, and which boards have room for them.")
@click.argument("models", nargs=-1, required=True, metavar="MODEL...")
@json_option
@click.pass_context
def inspect(ctx: click.Context, models: tuple[str, ...], as_json: bool) -> None:
    """Look into each MODEL, a .tflite file, a folder or a glob, without a board.

    With the extra 'sim', TFLM on this PC tries each: what it refuses is told here.

    .keras, .h5 and SavedModel folders are converted with the extra 'tensorflow'. The least arena is
    that of the tensors that are alive at once: estimated, and less than TFLM really takes.

    JSON: models[] with name, path, sha256, size_bytes, parameters, macs, subgraphs, arithmetic,
    tested (which part of several), signatures[] (key, subgraph), resource_variables, inputs[] and
    outputs[] (name, dtype, shape, bytes, scales, zero_points), operators[] (name, custom, count,
    macs, resolver), resolver_methods[], arena (least_bytes, source), boards[] (board, kind, fits,
    model_memory, arena_memory, reason), refusal (null, or why no board can run it), usable; one
    that cannot be read has path, error and usable. And usable, which is what the exit code says.
    """
    from pytest_autodeploy.model.find import find_models

    found = [_inspected(file) for file in find_models(models, Path.cwd())]
    usable = all(model["usable"] for model in found)
    if as_json:
        print_json({"usable": usable, "models": found})
    else:
        for number, model in enumerate(found):
            print_lines([*([""] if number else []), *_lines(model)])
    ctx.exit(0 if usable else TROUBLE)


def _inspected(file: ModelFile) -> dict[str, Any]:
    from pytest_autodeploy.base.errors import AutodeployError
    from pytest_autodeploy.board.inspection import inspect_model
    from pytest_autodeploy.run.runtime import Runtime

    path = str(file.path)
    runtime = Runtime(settings_of({}), lambda *_: None)
    try:
        return {**inspect_model(runtime.static_model(file)).as_dict(), "path": path}
    except AutodeployError as error:
        return {"path": path, "error": str(error), "usable": False}


def _lines(model: Plain) -> Iterator[str]:
    from pytest_autodeploy.base.text import one_line
    from pytest_autodeploy.base.units import grouped, si

    if "error" in model:
        yield f"Error: {model['error']}"
        return
    size, sha256 = si(model["size_bytes"], "B"), model["sha256"][:12]
    yield f"{one_line(model['path'])}: {size}, SHA-256 {sha256}…"
    yield (
        f"  {grouped(model['macs'])} MACs, {grouped(model['parameters'])} parameters, "
        f"arena at least {si(model['arena']['least_bytes'], 'B')} (estimated)"
        f"{_variables(model['resource_variables'])}"
        + (f", computes in {model['arithmetic']}" if model["arithmetic"] else "")
    )
    if model["tested"]:
        yield f"  {one_line(model['tested'])}"
    for word in ("inputs", "outputs"):
        for tensor in model[word]:
            yield f"  {word[:-1]:<6}  {one_line(tensor['name'])}  {_tensor(tensor)}"
    yield from (f"  {line}" for line in _operators(model["operators"]))
    yield from (f"  {line}" for line in _room(model["boards"]))
    if model["refusal"]:
        yield f"  refused: {model['refusal']}"


def _variables(count: int) -> str:
    return f", {count} resource variable{'' if count == 1 else 's'}" if count else ""


def _tensor(tensor: Plain) -> str:
    words = f"{tensor['dtype']} {tensor['shape']}"
    scales, zero_points = tensor["scales"], tensor["zero_points"]
    if len(scales) == 1:
        return f"{words}, scale {scales[0]:.6g}, zero point {zero_points[0]}"
    return f"{words}, {len(scales)} scales" if scales else words


def _operators(kinds: Sequence[Plain]) -> list[str]:
    from pytest_autodeploy.base.table import Column, table
    from pytest_autodeploy.base.text import one_line
    from pytest_autodeploy.base.units import grouped

    columns = [
        Column("Operator", [one_line(kind["name"]) for kind in kinds]),
        Column("Count", [str(kind["count"]) for kind in kinds], right=True),
        Column("MACs", [grouped(kind["macs"]) for kind in kinds], right=True),
        Column("Resolver", [kind["resolver"] or "no kernel in TFLM" for kind in kinds]),
    ]
    return table(columns)


def _room(boards: Sequence[Plain]) -> Iterator[str]:
    """Boards by where model and arena go, then those without room with the sum."""
    places: dict[str, list[str]] = {}
    for board in boards:
        if board["fits"]:
            model, arena = board["model_memory"].upper(), board["arena_memory"].upper()
            places.setdefault(f"model in {model}, arena in {arena}", []).append(board["board"])
    for place, names in places.items():
        yield f"room ({place}): {', '.join(names)}"
    for board in boards:
        if not board["fits"]:
            yield f"no room: {board['board']}: {board['reason']}"
