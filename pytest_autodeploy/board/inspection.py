"""What a person asks of a model before a board is involved: its work, its needs, where it fits."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from pytest_autodeploy.base.errors import ModelDoesNotFit, ModelError
from pytest_autodeploy.catalog.boards import BoardSpec, catalog_specs
from pytest_autodeploy.catalog.fit import ALIGNMENT, place
from pytest_autodeploy.catalog.kinds import real_kind
from pytest_autodeploy.image.image import Image
from pytest_autodeploy.image.recipe import decide
from pytest_autodeploy.model.arena import least_arena_bytes
from pytest_autodeploy.model.graph import Model, Tensor
from pytest_autodeploy.model.kernel_types import arithmetic
from pytest_autodeploy.model.load import check_runnable
from pytest_autodeploy.model.tested import tested_operators, tested_text
from pytest_autodeploy.reference.trial import check_on_pc


@dataclass(frozen=True)
class OperatorKind:
    """All operators of one kind: how many, and their MACs, None when unknown."""

    name: str
    custom: bool
    count: int
    macs: int | None
    resolver: str | None


@dataclass(frozen=True)
class BoardFit:
    """Whether a board has room for the model and the least arena; ``reason`` says why it has not.

    A board without room for the least arena cannot run the model. One that has it may still be too
    small for the real arena, which only a run tells. ``model_loaded``: the image has no room for
    the model, and the host loads it over the link.
    """

    board: str
    kind: str
    fits: bool
    model_memory: str | None = None
    arena_memory: str | None = None
    reason: str | None = None
    model_loaded: bool = False


@dataclass(frozen=True)
class Inspection:
    """What a model's file says; ``refusal`` is why no board could run it, or None.

    ``arithmetic``: the types in which its layers compute; ``tested``: which part of a file with
    several entries is tested, nothing when all of it is.
    """

    model: Model
    operators: tuple[OperatorKind, ...]
    least_arena_bytes: int
    boards: tuple[BoardFit, ...]
    refusal: str | None
    arithmetic: str = ""
    tested: str = ""

    @property
    def usable(self) -> bool:
        """Whether any board can be expected to run the model."""
        return self.refusal is None and any(board.fits for board in self.boards)

    def as_dict(self) -> dict[str, Any]:
        """The inspection as plain values; MACs that are unknown are None, sizes are in bytes.

        ``arena`` has the source ``estimated``.
        """
        model = self.model
        return {
            "name": model.name,
            "path": str(model.path),
            "sha256": model.sha256,
            "size_bytes": model.size_bytes,
            "parameters": model.parameters,
            "macs": model.macs,
            "subgraphs": model.subgraphs,
            "arithmetic": self.arithmetic,
            "tested": self.tested,
            "signatures": [vars(signature) for signature in model.signatures],
            "resource_variables": model.resource_variables,
            "inputs": [_tensor(tensor) for tensor in model.inputs],
            "outputs": [_tensor(tensor) for tensor in model.outputs],
            "operators": [vars(kind) for kind in self.operators],
            "resolver_methods": list(model.resolver_methods),
            "arena": {"least_bytes": self.least_arena_bytes, "source": "estimated"},
            "boards": [vars(fit) for fit in self.boards],
            "refusal": self.refusal,
            "usable": self.usable,
        }


def inspect_model(model: Model) -> Inspection:
    """Look at a model and hold it against every board of the catalog.

    With the extra ``sim``, TFLM on this PC tries it. Raises BrokenPackage when it cannot.
    """
    least = least_arena_bytes(model)
    try:
        check_runnable(model)
        check_on_pc(model)
        refusal = None
    except ModelError as error:
        refusal = str(error)
    return Inspection(
        model=model,
        operators=_kinds(model),
        least_arena_bytes=least,
        boards=tuple(_fit(spec, model, least) for spec in catalog_specs()),
        refusal=refusal,
        arithmetic=arithmetic(tested_operators(model)),
        tested=tested_text(model),
    )


def _kinds(model: Model) -> tuple[OperatorKind, ...]:
    """The tested operators by kind, in the order of their first appearance."""
    counts = Counter((op.name, op.custom, op.resolver) for op in tested_operators(model))
    return tuple(
        OperatorKind(name, custom, count, _macs(model, name, custom), resolver)
        for (name, custom, resolver), count in counts.items()
    )


def _macs(model: Model, name: str, custom: bool) -> int | None:
    found = [op.macs for op in tested_operators(model) if (op.name, op.custom) == (name, custom)]
    known = [macs for macs in found if macs is not None]
    return sum(known) if len(known) == len(found) else None


def _fit(spec: BoardSpec, model: Model, least: int) -> BoardFit:
    kind = real_kind(spec).name
    arena = max(-(-least // ALIGNMENT) * ALIGNMENT, ALIGNMENT)
    inputs = sum(tensor.bytes for tensor in model.inputs)
    try:
        place(spec, model.size_bytes, arena, buffer_bytes=inputs)
        placed = decide(Image(model), spec)
    except ModelDoesNotFit as error:
        return BoardFit(spec.name, kind, fits=False, reason=error.what)
    return BoardFit(
        spec.name,
        kind,
        fits=True,
        model_memory=placed.model_memory,
        arena_memory=placed.arena_memory,
        model_loaded=placed.model_loaded,
    )


def _tensor(tensor: Tensor) -> dict[str, Any]:
    quantization = tensor.quantization
    return {
        "name": tensor.name,
        "dtype": tensor.dtype,
        "shape": list(tensor.shape),
        "bytes": tensor.bytes,
        "scales": list(quantization.scales) if quantization else [],
        "zero_points": list(quantization.zero_points) if quantization else [],
    }
