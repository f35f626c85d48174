"""What inputs notice, on random and on searched inputs; and whether what is predicted happens.

Run with ``make bench``, for the models of ``AUTODEPLOY_BENCH_MODELS`` (a folder) or of the
examples. It takes some minutes: each fault of a simulated board is a board of its own.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from pytest_autodeploy.base.errors import AutodeployError
from pytest_autodeploy.diagnosis.sensitivity.measure import sensitivity
from pytest_autodeploy.diagnosis.sensitivity.search import made, search
from pytest_autodeploy.diagnosis.sensitivity.sensitivity import Sensitivity
from pytest_autodeploy.limits.sensitivity import CHANGES, CHANNEL, STEP, STEPS
from pytest_autodeploy.limits.tolerance import Tolerance
from pytest_autodeploy.model.graph import Model
from pytest_autodeploy.model.load import load_model
from pytest_autodeploy.reference.inputs import Inputs, random_inputs
from pytest_autodeploy.reference.interpreters import Tflm
from pytest_autodeploy.reference.runner import Reference
from pytest_autodeploy.sim.pieces import main_operators
from tests.helpers.diverging_board import session_on
from tests.helpers.support import MODELS
from tests.helpers.wrong_operators import (
    Array,
    Arrays,
    Confusion,
    has_happened,
    has_weights,
    is_predicted,
    outputs_with_zero_point,
    with_weights_from_elsewhere,
    with_wrong_weight,
)

FOLDER = Path(os.environ.get("AUTODEPLOY_BENCH_MODELS", MODELS))
FILES = sorted(FOLDER.glob("*.tflite"))
SECONDS = 900.0

KINDS = {
    "corrupt-op": STEPS,
    "round-op": STEP,
    "zero point 64 steps off": STEPS,
    "weights one place off": STEPS,
    "one weight 64 steps off": CHANNEL,
}
"""Kinds of faults, and the change by which they are predicted; the last three are no probes."""

SETS = ("ten random inferences", "one inference alone")
"""What is judged together: one inference, such as a constant input, is the hard case."""

TOTAL = {(each, kind): Confusion() for each in SETS for kind in KINDS}


@pytest.fixture(autouse=True)
def text_of_tflm() -> Iterator[None]:
    """TFLM writes to file descriptor 2, and ``Tflm`` reads it there."""
    before = os.dup(2)
    with tempfile.TemporaryFile() as words:
        os.dup2(words.fileno(), 2)
        yield
        os.dup2(before, 2)
    os.close(before)


def in_process(model: Model, inputs: Arrays) -> tuple[Array, ...]:
    """What TFLM gives, in this process."""
    runner = Tflm(model.content)
    results = []
    for sample in zip(*inputs, strict=True):
        runner.infer(sample)
        results.append(runner.outputs())
    return tuple(np.stack(arrays) for arrays in zip(*results, strict=True))


def telling_and_not(model: Model) -> Inputs:
    """Ten random inferences, and four of one value each, which tell little."""
    usual = random_inputs(model, 10, 42)
    levels = [
        [np.full_like(array[:1], level) for level in _levels(array)] for array in usual.arrays
    ]
    arrays = (np.concatenate([a, *b]) for a, b in zip(usual.arrays, levels, strict=True))
    return Inputs(tuple(arrays), "random, and of one value")


def _levels(array: Array) -> list[float]:
    if array.dtype.kind == "f":
        return [-1, 0, 0.5, 1]
    ends = np.iinfo(array.dtype)
    return [ends.min, 0, ends.max // 2, ends.max]


def outputs_with(kind: str, model: Model, position: int, inputs: Inputs) -> Arrays | None:
    """What comes out when the operator has that fault; None where it cannot."""
    if kind in ("corrupt-op", "round-op"):
        with session_on(model, f"{kind}:{position}") as session:
            return session.run(inputs).outputs
    if kind == "zero point 64 steps off":
        return outputs_with_zero_point(model, position, 64, inputs.arrays, in_process)
    if not has_weights(main_operators(model)[position]):
        return None
    wrong = (
        with_weights_from_elsewhere(model, position)
        if kind == "weights one place off"
        else with_wrong_weight(model, position, 1)
    )
    return in_process(wrong, inputs.arrays)


def sets_of(model: Model, doubtful: Sequence[int]) -> Iterator[tuple[str, list[int]]]:
    """The sets of inferences that are judged: all ten random ones, and each inference alone.

    Without those that fail with right operators. The tolerance of floats depends on the whole set,
    which is the only one then.
    """
    floats = any(tensor.dtype.startswith("float") for tensor in model.outputs)
    usual = [number for number in range(14) if number not in doubtful]
    yield SETS[0], usual if floats else [number for number in usual if number < 10]
    yield from [] if floats else ((SETS[1], [number]) for number in usual)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_what_is_predicted_happens(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = load_model(file)
    inputs = telling_and_not(model)
    with Reference(model) as reference:
        by_path = reference.run(inputs)
    found = sensitivity(model, inputs, by_path, Tolerance(), seconds=SECONDS, each=True)
    own = {key: Confusion() for key in TOTAL}
    for operator in found.operators:
        for kind, change in KINDS.items():
            try:
                outputs = outputs_with(kind, model, operator.position, inputs)
            except (AutodeployError, RuntimeError):  # TFLM refuses such an operator
                outputs = None
            if outputs is None or change not in operator.changes:
                continue
            for name, chosen in sets_of(model, found.doubtful):
                predicted = is_predicted(operator, change, chosen)
                happened = has_happened(model, outputs, {**by_path}, chosen)
                for matrix in (own, TOTAL):
                    matrix[name, kind].add(predicted=predicted, happened=happened)
    with capsys.disabled():
        print_matrix(file.stem, own)
        if file == FILES[-1]:
            print_matrix("all", TOTAL)


def print_matrix(title: str, matrix: Mapping[tuple[str, str], Confusion]) -> None:
    """A table for each kind of set: predicted and happened, and how often that was right."""
    for name in SETS:
        head = f"{title}, {name}"
        print(f"\n{head:<44}{'noticed':>9}{'missed':>9}{'false':>9}{'silent':>9}{'right':>9}")
        for kind in KINDS:
            each = matrix[name, kind]
            counts = (each.noticed, each.missed, each.false_alarm, each.silent)
            cells = "".join(f"{count:>9}" for count in counts)
            right = f"{100 * each.right:.1f}%" if each.count else "none"
            print(f"  {kind:<42}{cells}{right:>9}")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_searched_inputs_notice_more(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = load_model(file)
    with Reference(model) as reference:

        def told(inputs: Inputs) -> Sensitivity:
            return sensitivity(model, inputs, reference.run(inputs), Tolerance(), seconds=SECONDS)

        usual = told(random_inputs(model, 10, 42))
        began = time.monotonic()
        recipe = search(model, 10, 42, reference.run, Tolerance(), seconds=SECONDS)
        took = time.monotonic() - began
        better = told(made(model, recipe, 42))
    with capsys.disabled():
        for name, each in (("random", usual), ("searched", better)):
            counts = (each.counted(change) for change in CHANGES)
            words = "  ".join(f"{c.noticed:>3} of {c.operators:>3}" for c in counts)
            print(f"\n{file.stem:<20}{name:<10}{words}  in {each.seconds:.1f} s", end="")
        print(f"; searched in {took:.1f} s, {recipe.tried} of {recipe.planned} tries")
