"""The PC side: the same inputs through LiteRT's kernel paths, and how near the board came."""

from __future__ import annotations

PATHS = ("ref", "optimized", "xnnpack", "tensorflow")
"""Kernel paths, in the order in which they are named and in which ties are decided."""

LITERT_PATHS = PATHS[:3]
"""The paths of LiteRT, which need no extra."""
