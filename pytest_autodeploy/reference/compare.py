"""The comparison of the board's outputs with those of every set of kernels on the PC."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_autodeploy.base.errors import ReferenceFailed
from pytest_autodeploy.base.kernel_paths import ALL_PATHS, PATHS, TFLM_PATH
from pytest_autodeploy.limits.tolerance import Tolerance
from pytest_autodeploy.reference import metrics
from pytest_autodeploy.reference.agreement import (
    Agreement,
    OutputAgreement,
    Unit,
    WorstElement,
    describe,
    failure_text,
)
from pytest_autodeploy.reference.facts import facts_of
from pytest_autodeploy.reference.sides import Side, assemble, nearest_of, side_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_autodeploy.model.graph import Model, Tensor

    Arrays = Sequence[NDArray[Any]]

__all__ = ["Agreement", "Tolerance", "compare", "describe", "failure_text"]


def compare(
    model: Model,
    board_outputs: Arrays,
    by_path: Mapping[str, Arrays],
    tolerance: Tolerance,
    *,
    failed_paths: Mapping[str, str] | None = None,
) -> Agreement:
    """Hold outputs, one array (n, *tensor shape) each, against the nearest path per inference.

    The nearest path is the one whose worst element, over all outputs, is the smallest share of its
    limit; of equals the one with fewer elements that differ, then the earlier of ref, optimized,
    xnnpack, tensorflow. ``failed_paths`` are those that could not run, with the reason. Raises
    ReferenceFailed for a pinned path that did not run and for outputs of different shape or dtype.
    """
    failed = dict(failed_paths or {})
    # TFLM shares the boards' mistakes, so it counts only when a test asks for it.
    known = ALL_PATHS if tolerance.reference == TFLM_PATH else PATHS
    paths = [path for path in known if path in by_path]
    candidates = _candidates(paths, tolerance.reference, failed)
    for path in paths:
        _check_same_form(model, board_outputs, by_path[path], path)
    sides = {
        path: [
            side_of(tensor, board, pc, tolerance)
            for tensor, board, pc in zip(model.outputs, board_outputs, by_path[path], strict=True)
        ]
        for path in paths
    }
    nearest = nearest_of({path: sides[path] for path in candidates})
    chosen = [
        assemble([sides[path][output] for path in candidates], nearest)
        for output in range(len(model.outputs))
    ]
    return _agreement(model, board_outputs, sides, candidates, nearest, chosen, tolerance, failed)


def _candidates(paths: list[str], reference: str, failed: Mapping[str, str]) -> list[str]:
    if reference == "auto":
        return paths
    if reference not in paths:
        why = failed.get(reference, f"only {', '.join(paths)} did")
        raise ReferenceFailed(
            f"the reference {reference!r} did not run on the PC: {why}",
            hint='choose another path, or leave it out: output_tolerance(reference="auto")',
        )
    return [reference]


def _check_same_form(model: Model, board_outputs: Arrays, pc_outputs: Arrays, path: str) -> None:
    for tensor, board, pc in zip(model.outputs, board_outputs, pc_outputs, strict=True):
        if board.shape != pc.shape or board.dtype != pc.dtype:
            raise ReferenceFailed(
                f"output {tensor.name!r}: the board gave {board.dtype} {board.shape}, "
                f"the PC ({path} kernels) {pc.dtype} {pc.shape}",
                hint="the board may run another build of the model: flash it again",
            )


def _agreement(
    model: Model,
    board_outputs: Arrays,
    sides: Mapping[str, Sequence[Side]],
    candidates: Sequence[str],
    nearest: NDArray[np.intp],
    chosen: Sequence[Side],
    tolerance: Tolerance,
    failed: Mapping[str, str],
) -> Agreement:
    outputs = tuple(
        _output_agreement(
            tensor, board, side, {path: each[number] for path, each in sides.items()}, tolerance
        )
        for number, (tensor, board, side) in enumerate(
            zip(model.outputs, board_outputs, chosen, strict=True)
        )
    )
    unit: Unit = "steps" if any(output.unit == "steps" for output in outputs) else "real"
    finite = not any(output.nan or output.infinite for output in outputs)
    beyond = np.max([side.worst_share() for side in chosen], axis=0) > 1
    return Agreement(
        passed=not beyond.any(),
        count=len(nearest),
        outputs=outputs,
        nearest={path: int((nearest == i).sum()) for i, path in enumerate(candidates)},
        distances={
            path: max(output.distances[path] for output in outputs if output.unit == unit)
            for path in sides
        },
        distance_unit=unit,
        exact=finite and not any(side.apart.any() for side in chosen),
        exact_paths=tuple(
            path
            for path, each in sides.items()
            if finite and not any(side.apart.any() for side in each)
        ),
        worst=_worst(model, board_outputs, chosen, [candidates[i] for i in nearest], tolerance),
        failed_inferences=tuple(int(number) for number in np.flatnonzero(beyond)),
        share_beyond=sum(o.elements_beyond for o in outputs)
        / max(sum(o.elements for o in outputs), 1),
        tolerance="; ".join(dict.fromkeys(output.tolerance for output in outputs)),
        reference=tolerance.reference,
        failed_paths=failed,
    )


def _output_agreement(
    tensor: Tensor,
    board: NDArray[Any],
    chosen: Side,
    sides: Mapping[str, Side],
    tolerance: Tolerance,
) -> OutputAgreement:
    steps = board.dtype.kind != "f"
    apart_real = chosen.apart * (tensor.scale or 1) if steps else chosen.apart
    board_real, pc_real = (metrics.real_values(tensor, side) for side in (board, chosen.pc))
    real = metrics.figures(apart_real, board_real, pc_real)
    facts = facts_of(tensor, board)
    return OutputAgreement(
        name=tensor.name,
        dtype=tensor.dtype,
        max_abs_steps=float(chosen.apart.max(initial=0)) if steps else None,
        mean_abs_steps=float(chosen.apart.sum() / max(board.size, 1)) if steps else None,
        max_abs_real=real.max_abs,
        mean_abs_real=real.mean_abs,
        rmse_real=real.rmse,
        relative_l2=real.relative_l2,
        cosine=real.cosine,
        nse=real.nse,
        elements=board.size,
        elements_beyond=int(np.count_nonzero(chosen.share > 1)),
        argmax_agreement=metrics.argmax_agreement(board, chosen.pc),
        nan_mismatch=metrics.nan_mismatches(board, chosen.pc),
        unit="steps" if steps else "real",
        distances={path: float(side.apart.max(initial=0)) for path, side in sides.items()},
        tolerance=tolerance.text(tensor.dtype),
        nan=facts.nan,
        infinite=facts.infinite,
        constant=facts.constant,
        saturated=facts.saturated,
    )


def _worst(
    model: Model,
    board_outputs: Arrays,
    chosen: Sequence[Side],
    paths: Sequence[str],
    tolerance: Tolerance,
) -> WorstElement | None:
    worst_shares = [side.share.max(initial=0) for side in chosen]
    output = int(np.argmax(worst_shares))
    if worst_shares[output] == 0:
        return None
    side, tensor, board = chosen[output], model.outputs[output], board_outputs[output]
    farthest = np.where(side.share == worst_shares[output], side.apart, -1).argmax()
    at = np.unravel_index(farthest, board.shape)
    inference, *index = (int(part) for part in at)
    steps = board.dtype.kind != "f"
    apart = float(side.apart[at])
    return WorstElement(
        output=output,
        name=tensor.name,
        inference=inference,
        index=tuple(index),
        board=board[at].item(),
        pc=side.pc[at].item(),
        steps=apart if steps else None,
        real=apart * (tensor.scale or 1) if steps else apart,
        limit=float(side.limit[at]),
        unit="steps" if tolerance.in_steps(tensor.dtype) else "real",
        path=paths[inference],
    )
