"""Arithmetic on the outputs of board and PC: distances, limits, and the figures of a report."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_autodeploy.limits.tolerance import DEFAULT_LSB, DEFAULT_PEAK_RTOL, Tolerance

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_autodeploy.model.graph import Tensor

    Floats = NDArray[np.float64]

SCALE_ROUNDING = 1e-6
"""A scale is a float32: ``atol=0.1`` is to allow a step of a scale that was meant to be 0.1."""


@dataclass(frozen=True)
class ErrorMetrics:
    """Figures over all elements of two arrays of real values, with e = board - pc.

    ``max_abs``: largest abs(e). ``mean_abs``: mean of abs(e), the MAE. ``rmse``: sqrt(mean(e^2)).
    ``relative_l2``: norm(e) / norm(pc); None where the PC's values are all 0. ``cosine``:
    dot(board, pc) / (norm(board) * norm(pc)), over elements that are finite on both sides; 1 where
    both sides are 0, None where no element is finite on both. ``nse``: the Nash-Sutcliffe
    efficiency, 1 - sum(e^2) / sum((pc - mean(pc))^2): 1 is equal, 0 is as near as the PC's mean
    would be; None where the PC's values are all the same (Nash and Sutcliffe, River flow
    forecasting through conceptual models part I, 1970).

    NaN or infinity on one side only is infinitely far; the same on both sides is 0 apart, and left
    out of the sums over pc.
    """

    max_abs: float
    mean_abs: float
    rmse: float
    relative_l2: float | None
    cosine: float | None
    nse: float | None


def real_values(tensor: Tensor, values: NDArray[Any]) -> Floats:
    """The values in real units: ``scale * (q - zero_point)`` where the tensor is quantised."""
    with np.errstate(invalid="ignore"):  # a signalling NaN, which a board may well send
        real = values.astype(np.float64)
    if tensor.scale is not None and values.dtype.kind in "iu":
        real = (real - (tensor.zero_point or 0)) * tensor.scale
    return real


def distances(board: NDArray[Any], pc: NDArray[Any]) -> Floats:
    """``|board - pc|`` of stored values: steps of integers and bools, real units of floats.

    NaN on both sides and the same infinity on both are 0 apart; NaN or infinity on one side is
    infinitely far.
    """
    if board.dtype.kind == "f":
        with np.errstate(invalid="ignore", over="ignore"):
            apart = np.abs(board.astype(np.float64) - pc.astype(np.float64))
        apart[np.isnan(apart)] = np.inf
        apart[(board == pc) | (np.isnan(board) & np.isnan(pc))] = 0
        return apart
    wide = np.uint64 if board.dtype == np.uint64 else np.int64
    high, low = np.maximum(board, pc).astype(wide), np.minimum(board, pc).astype(wide)
    # The difference of two int64 may need 64 bits without a sign.
    steps: Floats = (high.view(np.uint64) - low.view(np.uint64)).astype(np.float64)
    return steps


def judged(tensor: Tensor, apart: Floats, tolerance: Tolerance) -> Floats:
    """Distances of stored values in the unit of ``limits``."""
    if "float" in tensor.dtype or tolerance.in_steps(tensor.dtype):
        return apart
    real: Floats = apart * (tensor.scale or 1)
    return real


def limits(tensor: Tensor, pc: NDArray[Any], tolerance: Tolerance) -> Floats:
    """The largest distance that passes, per element of the PC's output of all inferences."""
    if tensor.dtype == "bool":
        return np.broadcast_to(np.float64(0), pc.shape)
    if tolerance.in_steps(tensor.dtype):
        steps = DEFAULT_LSB if tolerance.lsb is None else tolerance.lsb
        return np.broadcast_to(np.float64(steps), pc.shape)
    magnitudes = np.abs(real_values(tensor, pc))
    if tolerance.elementwise:
        with np.errstate(invalid="ignore"):  # 0 * infinity; only equal infinities pass anyway
            limit: Floats = (tolerance.atol or 0) + (tolerance.rtol or 0) * magnitudes
        return limit * (1 + SCALE_ROUNDING) if pc.dtype.kind != "f" else limit
    peak = magnitudes.max(initial=0, where=np.isfinite(magnitudes))
    return np.broadcast_to(np.float64(DEFAULT_PEAK_RTOL[tensor.dtype] * peak), pc.shape)


def shares_of_limit(apart: Floats, limit: Floats) -> Floats:
    """Distance as a share of its limit: at most 1 passes; infinity where nothing was allowed."""
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = apart / limit
    shares[~np.isfinite(apart)] = np.inf
    shares[apart == 0] = 0
    return shares


def error_metrics(board: NDArray[Any], pc: NDArray[Any]) -> ErrorMetrics:
    """The figures of real (dequantised) values of the same shape, with at least one element."""
    board, pc = board.astype(np.float64), pc.astype(np.float64)
    return figures(distances(board, pc), board, pc)


def figures(apart: Floats, board: Floats, pc: Floats) -> ErrorMetrics:
    """The figures, where the distances abs(board - pc) are known already.

    Of no elements, or of none that is finite, they are 0 apart, and what needs values is None.
    """
    count = max(apart.size, 1)
    with np.errstate(over="ignore", invalid="ignore"):
        squares = float(np.sum(np.square(apart)))
        return ErrorMetrics(
            max_abs=float(apart.max(initial=0)),
            mean_abs=float(apart.sum() / count),
            rmse=math.sqrt(squares / count),
            relative_l2=_relative_l2(squares, pc),
            cosine=cosine(board, pc),
            nse=_nse(squares, pc),
        )


def cosine(board: Floats, pc: Floats) -> float | None:
    """Cosine similarity over all elements that are finite on both sides; 1 where both are zero.

    None where no element is finite on both sides.
    """
    known = np.isfinite(board) & np.isfinite(pc)
    board, pc = board[known], pc[known]
    if not known.any():
        return None
    board_norm, pc_norm = np.linalg.norm(board), np.linalg.norm(pc)
    if board_norm == 0 or pc_norm == 0:
        return float(board_norm == pc_norm)
    return float(np.clip(np.dot(board / board_norm, pc / pc_norm), -1, 1))


def _relative_l2(squares: float, pc: Floats) -> float | None:
    norm = float(np.linalg.norm(pc[np.isfinite(pc)]))
    return math.sqrt(squares) / norm if norm else None


def _nse(squares: float, pc: Floats) -> float | None:
    known = pc[np.isfinite(pc)]
    # The mean of equal values may be rounded, so their spread need not be 0.
    if known.size == 0 or known.min() == known.max():
        return None
    spread = float(np.sum(np.square(known - known.mean())))
    return 1 - squares / spread if spread else None


def argmax_agreement(board: NDArray[Any], pc: NDArray[Any]) -> float | None:
    """Share of inferences whose largest element (the first of equals) is the same one.

    Of those without NaN; None when there are none, and for outputs of one element.
    """
    elements = math.prod(board.shape[1:])
    if elements < 2:
        return None
    board, pc = board.reshape(-1, elements), pc.reshape(-1, elements)
    if board.dtype.kind == "f":
        ordered = ~(np.isnan(board) | np.isnan(pc)).any(axis=1)
        board, pc = board[ordered], pc[ordered]
    if not len(board):
        return None
    return float(np.mean(board.argmax(axis=1) == pc.argmax(axis=1)))


def nan_mismatches(board: NDArray[Any], pc: NDArray[Any]) -> int:
    """Elements that are NaN on one side only."""
    if board.dtype.kind != "f":
        return 0
    return int(np.count_nonzero(np.isnan(board) != np.isnan(pc)))
