"""``autodeploy inspect``: what a model's file says, and which boards have room for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pytest_autodeploy.cli.command import TROUBLE, json_option, print_json, print_lines
from pytest_autodeploy.cli.settings import settings_of

if TYPE_CHECKING:
    from pytest_autodeploy.board.inspection import BoardFit, Inspection, OperatorKind
    from pytest_autodeploy.model.find import ModelFile
    from pytest_autodeploy.model.graph import Tensor


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
    model_memory, arena_memory, model_loaded, reason), refusal (null, or why no board can run it),
    usable; one that cannot be read has path, error and usable. And usable, which is what the exit
    code says.
    """
    from pytest_autodeploy.model.find import find_models

    found = [_inspect(file) for file in find_models(models, Path.cwd())]
    usable = all(each.usable for each in found)
    if as_json:
        print_json({"usable": usable, "models": [each.as_dict() for each in found]})
    else:
        for number, each in enumerate(found):
            print_lines([*([""] if number else []), *_lines(each)])
    ctx.exit(0 if usable else TROUBLE)


@dataclass(frozen=True)
class _Inspected:
    """A file, and what is in it, or why it cannot be read."""

    path: str
    inspection: Inspection | None
    error: str = ""

    @property
    def usable(self) -> bool:
        return self.inspection is not None and self.inspection.usable

    def as_dict(self) -> dict[str, Any]:
        if self.inspection is None:
            return {"path": self.path, "error": self.error, "usable": False}
        return {**self.inspection.as_dict(), "path": self.path}


def _inspect(file: ModelFile) -> _Inspected:
    from pytest_autodeploy.base.errors import AutodeployError
    from pytest_autodeploy.board.inspection import inspect_model
    from pytest_autodeploy.run.models import Models

    models = Models(settings_of({}))
    try:
        return _Inspected(str(file.path), inspect_model(models.load(file)))
    except AutodeployError as error:
        return _Inspected(str(file.path), None, str(error))


def _lines(found: _Inspected) -> Iterator[str]:
    from pytest_autodeploy.base.text import one_line
    from pytest_autodeploy.base.units import group_digits, si

    inspection = found.inspection
    if inspection is None:
        yield f"Error: {found.error}"
        return
    model = inspection.model
    yield f"{one_line(found.path)}: {si(model.size_bytes, 'B')}, SHA-256 {model.sha256[:12]}…"
    yield (
        f"  {group_digits(model.macs)} MACs, {group_digits(model.parameters)} parameters, "
        f"arena at least {si(inspection.least_arena_bytes, 'B')} (estimated)"
        f"{_variables(model.resource_variables)}"
        + (f", computes in {inspection.arithmetic}" if inspection.arithmetic else "")
    )
    if inspection.tested:
        yield f"  {one_line(inspection.tested)}"
    for word, tensors in (("input", model.inputs), ("output", model.outputs)):
        for tensor in tensors:
            yield f"  {word:<6}  {one_line(tensor.name)}  {_tensor(tensor)}"
    yield from (f"  {line}" for line in _operators(inspection.operators))
    yield from (f"  {line}" for line in _room(inspection.boards))
    if inspection.refusal:
        yield f"  refused: {inspection.refusal}"


def _variables(count: int) -> str:
    return f", {count} resource variable{'' if count == 1 else 's'}" if count else ""


def _tensor(tensor: Tensor) -> str:
    text, quantization = f"{tensor.dtype} {list(tensor.shape)}", tensor.quantization
    if quantization is None or not quantization.scales:
        return text
    scales = quantization.scales
    if len(scales) == 1:
        return f"{text}, scale {scales[0]:.6g}, zero point {quantization.zero_points[0]}"
    return f"{text}, {len(scales)} scales"


def _operators(kinds: Sequence[OperatorKind]) -> list[str]:
    from pytest_autodeploy.base.table import Column, table
    from pytest_autodeploy.base.text import one_line
    from pytest_autodeploy.base.units import group_digits

    columns = [
        Column("Operator", [one_line(kind.name) for kind in kinds]),
        Column("Count", [str(kind.count) for kind in kinds], right=True),
        Column("MACs", [group_digits(kind.macs) for kind in kinds], right=True),
        Column("Resolver", [kind.resolver or "no kernel in TFLM" for kind in kinds]),
    ]
    return table(columns)


def _room(boards: Sequence[BoardFit]) -> Iterator[str]:
    """Boards by where model and arena go, then those without room with the sum."""
    places: dict[str, list[str]] = {}
    for board in boards:
        if board.model_memory and board.arena_memory:
            model, arena = board.model_memory.upper(), board.arena_memory.upper()
            how = "model loaded over the link into" if board.model_loaded else "model in"
            places.setdefault(f"{how} {model}, arena in {arena}", []).append(board.board)
    for place, names in places.items():
        yield f"room ({place}): {', '.join(names)}"
    for board in boards:
        if not board.fits:
            yield f"no room: {board.board}: {board.reason}"
