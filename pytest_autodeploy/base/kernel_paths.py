"""The sets of kernels of the PC: the ways in which a model is computed there."""

from __future__ import annotations

PATHS = ("ref", "optimized", "xnnpack", "tensorflow")
"""Kernel paths, in the order in which they are named and in which ties are decided."""

LITERT_PATHS = PATHS[:3]
"""The paths of LiteRT, which need no extra."""

TFLM_PATH = "tflm"
"""TFLM on this PC, the engine of the boards. It runs only when asked for, and never counts for the
nearest kernels: it would share the boards' mistakes."""

ALL_PATHS = (*PATHS, TFLM_PATH)

TENSOR_PATHS = (*LITERT_PATHS, TFLM_PATH)
"""The paths that give their intermediate tensors."""
