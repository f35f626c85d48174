"""The limit of the arena is held against the smallest in which the model runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_autodeploy.model.parse import parse
from tests.helpers import tflite_builder as build
from tests.helpers.diverging_board import session_on


def test_an_arena_that_is_used_but_not_enough_fails_its_limit(pytester: pytest.Pytester) -> None:
    """What TFLM says it used leaves out what it needs while it plans the tensors."""
    x, scaled, y = (build.tensor((1, 8), name=name) for name in ("x", "scaled", "y"))
    half = build.constant([[0.5] * 8], "float32")
    steps = [build.operator("MUL", [x, half], [scaled]), build.operator("SUB", [scaled, half], [y])]
    content = build.build_model(operators=steps, inputs=[x], outputs=[y])
    Path("m.tflite").write_bytes(content)
    with session_on(parse(Path("m.tflite"), content)) as session:
        tuned = session.tune_arena().arena_bytes
        used = session.memory().arena_used_bytes
    assert used < tuned
    between = (used + tuned) / 2 / 1024
    result = pytester.runpytest(
        "--tflite", "m.tflite", "-k", "fits", "--tflite-memory-limit", f"arena_kb={between}"
    )
    result.assert_outcomes(failed=1, deselected=4)
    result.stdout.fnmatch_lines(["*arena tuned is over its limit*"])
