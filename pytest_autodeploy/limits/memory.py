"""How much memory a model may use."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_autodeploy.base.numbers import check_number
from pytest_autodeploy.limits.declaration import Declaration, Group

KB = 1024


@dataclass(frozen=True)
class MemoryLimit:
    """The most bytes of arena and of model file."""

    arena_bytes: float | None = None
    model_bytes: float | None = None


def memory_limit(*, arena_kb: float | None = None, model_kb: float | None = None) -> MemoryLimit:
    """Declare the most arena and model size; 1 KB is 1024 bytes."""
    check_number("arena_kb", arena_kb, above=True)
    check_number("model_kb", model_kb, above=True)
    if arena_kb is None and model_kb is None:
        raise ValueError("give arena_kb, model_kb or both")
    return MemoryLimit(
        None if arena_kb is None else KB * arena_kb,
        None if model_kb is None else KB * model_kb,
    )


DECLARATION = Declaration(
    name="memory_limit",
    signature=memory_limit,
    flag="--tflite-memory-limit",
    marker_help="the model uses at most that much; 1 KB is 1024 bytes",
    option_help="Limit of the built-in memory test, such as arena_kb=32 or "
    "arena_kb=32,model_kb=100",
    suite_test="test_model_fits",
    groups=(
        Group("arena", ("arena_used", "arena_tuned"), 0),
        # names and metadata in a model's file vary
        Group("model_size", ("model_size",), 1, floor=lambda _unit, _baseline: KB),
    ),
)
