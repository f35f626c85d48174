"""Whether a board that AutoDeploy has flashed may run a model, as far as it can be told."""

from __future__ import annotations

from dataclasses import replace

from pytest_autodeploy.rpc.messages import LayerRecord
from pytest_autodeploy.rpc.stock_calls import Expected, wrong
from pytest_autodeploy.rpc.stock_stats import FAILED_ARENA, Statistics

_MOST_TENSORS = 10
"""Of inputs, and of outputs: the firmware has arrays of so many."""

_STAGED_BYTES = {3: 20_000, 4: 50_000}
_MOST_STAGED_BYTES = 200_000
"""Its room for all outputs, by platform."""


def check_fit(board: str, expected: Expected, found: Statistics) -> None:
    """Raise WrongFirmware for what would write beyond its buffers, which it does not check."""
    if found.arena_used_bytes == FAILED_ARENA:
        raise wrong(board, "TFLM could not prepare its model in its arena")
    layers = len(expected.operators)
    if found.capacity < layers:
        what = f"it was built for {found.capacity} layers; {expected.name} has {layers}"
        raise wrong(board, what)
    most = _STAGED_BYTES.get(found.platform, _MOST_STAGED_BYTES)
    tensors, size = max(len(expected.inputs), len(expected.outputs)), sum(expected.outputs)
    if tensors > _MOST_TENSORS or size > most:
        raise wrong(
            board,
            f"it has room for {_MOST_TENSORS} tensors and {most} bytes of outputs; "
            f"{expected.name} has {tensors} and {size}",
        )


def check_layers(board: str, expected: Expected, found: Statistics) -> None:
    """Raise WrongFirmware unless it ran the operators of the model, if it tells what it ran."""
    if not found.layers or not expected.operators:
        return
    names = [name[: found.layout.tag_bytes - 1] for name in expected.operators]
    tags = [layer.tag for layer in found.layers]
    if names != tags:
        known = zip([*names, "none"], [*tags, "none"], strict=False)
        at, (name, tag) = next((n, pair) for n, pair in enumerate(known) if pair[0] != pair[1])
        what = f"it runs another model than {expected.name}: layer {at} is {tag}, not {name}"
        raise wrong(board, what)


def name_layers(expected: Expected, found: Statistics) -> list[LayerRecord]:
    """The layers that `check_layers` has passed, by the whole names of their operators."""
    names = expected.operators or tuple(layer.tag for layer in found.layers)
    return [replace(layer, tag=name) for layer, name in zip(found.layers, names, strict=False)]
