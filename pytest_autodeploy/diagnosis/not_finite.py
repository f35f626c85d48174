"""Outputs that are NaN or infinite on the board and on the PC alike: where the model makes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_autodeploy.base.kernel_paths import TENSOR_PATHS
from pytest_autodeploy.diagnosis.explanation import Explanation
from pytest_autodeploy.diagnosis.layers import main_operators
from pytest_autodeploy.diagnosis.scene import Findings, side_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from pytest_autodeploy.diagnosis.chosen import Chosen
    from pytest_autodeploy.diagnosis.pc import PcSides
    from pytest_autodeploy.model.graph import Model
    from pytest_autodeploy.reference.agreement import Agreement

ADVICE = (
    "give inputs as they occur (--tflite-inputs), or keep what that operator reads in its domain",
    'declare output_tolerance(nan="allow"), if that is meant',
)


def by_model(model: Model, chosen: Chosen, pc: PcSides, agreement: Agreement) -> Explanation | None:
    """The explanation when nothing differs, but outputs are not finite; else None."""
    if not agreement.not_finite or agreement.distance:
        return None
    side = next(path for path in agreement.nearest if path in TENSOR_PATHS)
    where = _where(model, pc.tensors(side, chosen.focus), side)
    return Explanation(
        cause="model",
        lines=(agreement.not_finite, "the PC has the same, so the board computes what it should"),
        inference=chosen.focus_number,
        found=Findings(where=where, left=side_name(side), method="the PC alone"),
        advice=ADVICE,
    )


def _where(model: Model, values: Mapping[int, NDArray[Any]], side: str) -> str:
    """The first operator whose output is not finite in that inference."""
    for position, operator in enumerate(main_operators(model)):
        for tensor in operator.outputs:
            value = values.get(tensor.index)
            if value is not None and value.dtype.kind == "f" and not np.isfinite(value).all():
                return (
                    f"{side_name(side)} on the PC makes the first in operator {position}"
                    f" {operator.name}"
                )
    return ""
