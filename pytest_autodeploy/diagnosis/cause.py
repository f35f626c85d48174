"""The causes of a difference, and the ways in which operators are compared, by name."""

from __future__ import annotations

from typing import Literal

Cause = Literal["runtime", "board", "state", "model", "unstable", "pc", "open", "agree"]
"""What differs: the runtimes, the board or its firmware, state that a kernel of the board does not
keep, nothing but that the model makes NaN, the board from itself, the PC's own kernels; open
where TFLM on the PC could not be asked; agree where outputs do not differ."""

HEADLINES: dict[Cause, str] = {
    "runtime": "the runtimes differ, not the board",
    "board": "the board, its firmware or its kernel library",
    "state": "the board: a kernel drops its state",
    "model": "the model itself: the PC computes what is not finite, too",
    "unstable": "the board disagrees with itself: its memory or the transport",
    "pc": "the PC's kernels differ, the board is not to blame",
    "open": "the board or the runtime; TFLM on the PC would tell which",
    "agree": "outputs agree",
}

Method = Literal["kept tensors", "cut models", "the PC alone", ""]
"""How: on the board by reading kept tensors, or by running the first operators as a model; or
between two sides of the PC."""
