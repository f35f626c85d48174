"""From scheduled operations back to the operators of the model, and what share the NPU runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pytest_autodeploy.model.graph import Model, Operator
from pytest_autodeploy.npu.debug_db import Origin
from pytest_autodeploy.npu.log import Reason
from pytest_autodeploy.npu.results import (
    Coverage,
    Layer,
    OperatorEstimate,
    Placement,
    Unavailable,
    Value,
)

NO_REASON = "Vela gives no reason"


class NoRollUp(Exception):
    """The layers cannot be assigned to the operators of the model; the text says why."""


def assign(
    model: Model, layers: Sequence[Layer], origins: Sequence[Origin], positions: Mapping[int, int]
) -> tuple[Layer, ...]:
    """The layers with the index of the operator that each comes from. Raises NoRollUp."""
    if model.subgraphs > 1:
        raise NoRollUp(
            f"the model has {model.subgraphs} subgraphs, and Vela lists the layers of only one"
        )
    if set(positions.values()) != set(range(len(model.operators))):
        raise NoRollUp(
            f"Vela's debug database has {len(positions)} source operators,"
            f" the model {len(model.operators)}"
        )
    if len(origins) != len(layers) or not all(map(_same, layers, origins)):
        raise NoRollUp("Vela's debug database and its per-layer CSV do not agree")
    return tuple(
        replace(layer, operator_index=positions.get(origin.source_id or 0))
        for layer, origin in zip(layers, origins, strict=True)
    )


def _same(layer: Layer, origin: Origin) -> bool:
    return (layer.cycles or 0, layer.macs or 0) == (origin.cycles, origin.macs)


def roll_up(
    model: Model, layers: Sequence[Layer], reasons: Sequence[Reason]
) -> tuple[OperatorEstimate, ...]:
    """One estimate per operator of the model, in its order, from layers that were assigned."""
    by_operator: dict[int | None, list[Layer]] = {}
    for layer in layers:
        by_operator.setdefault(layer.operator_index, []).append(layer)
    return tuple(
        _operator(operator, by_operator.get(operator.index, []), reasons)
        for operator in model.operators
    )


def _operator(
    operator: Operator, layers: Sequence[Layer], reasons: Sequence[Reason]
) -> OperatorEstimate:
    placement = _placement(layers)
    figures = {} if placement == "cpu" else _figures(layers)
    inputs = [tensor for tensor in operator.inputs if tensor is not None]
    return OperatorEstimate(
        index=operator.index,
        name=operator.name,
        output=_output(operator),
        placement=placement,
        layers=len(layers),
        cycles=figures.get("cycles"),
        npu_cycles=figures.get("npu_cycles"),
        staging_bytes=figures.get("staging_bytes"),
        npu_macs=figures.get("npu_macs"),
        macs=operator.macs,
        constant_bytes=sum(tensor.bytes for tensor in inputs if tensor.constant),
        reason=_reason(operator, reasons) if placement == "cpu" else "",
    )


def _figures(layers: Sequence[Layer]) -> dict[str, float]:
    return {
        "cycles": sum(layer.cycles or 0 for layer in layers),
        "npu_cycles": sum(layer.npu_cycles or 0 for layer in layers),
        "staging_bytes": max((layer.staging_bytes or 0 for layer in layers), default=0),
        "npu_macs": sum(layer.macs or 0 for layer in layers),
    }


def _placement(layers: Sequence[Layer]) -> Placement:
    targets = {layer.target for layer in layers}
    if "CPU" in targets:
        return "cpu"
    return "npu" if targets else "removed"


def _output(operator: Operator) -> str:
    """The name of the first output as Vela writes it."""
    if not operator.outputs:
        return f"placeholder-for-{operator.index}-OFM"
    return operator.outputs[0].name or f"tensor_{operator.outputs[0].index}"


def _reason(operator: Operator, reasons: Sequence[Reason]) -> str:
    """Vela may name the activation that it split off the operator, but never another output."""
    about = [reason for reason in reasons if reason.output == _output(operator)]
    named = [reason for reason in about if reason.name == operator.name]
    return next((reason.text for reason in [*named, *about]), NO_REASON)


def coverage_of(
    operators: Sequence[OperatorEstimate], counts: Mapping[str, int], why_not: str
) -> Coverage:
    """The share of the NPU by operators, or by Vela's counts of operations where these are not."""
    placed = [operator.placement for operator in operators]
    if not {"npu", "cpu"} & set(placed):
        macs = Unavailable(why_not or "no operator of the model has work")
        return Coverage("scheduled operations", counts["NPU"], counts["CPU"], 0, macs)
    return Coverage(
        "operators",
        placed.count("npu"),
        placed.count("cpu"),
        placed.count("removed"),
        _macs_share(operators),
    )


def _macs_share(operators: Sequence[OperatorEstimate]) -> Value:
    unknown = sorted({operator.name for operator in operators if operator.macs is None})
    if unknown:
        return Unavailable(f"the MACs of {', '.join(unknown)} are unknown")
    total = sum(operator.macs or 0 for operator in operators)
    if not total:
        return Unavailable("the model has no MACs")
    done = math.fsum(operator.macs or 0 for operator in operators if operator.placement == "npu")
    return done / total
