"""Whether inputs would notice an operator that is wrong: what is predicted, and what happens."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_autodeploy.base.errors import MissingExtra, ReferenceFailed
from pytest_autodeploy.diagnosis.sensitivity import trials
from pytest_autodeploy.diagnosis.sensitivity.measure import sensitivity
from pytest_autodeploy.diagnosis.sensitivity.sensitivity import Sensitivity, describe
from pytest_autodeploy.diagnosis.sensitivity.trials import NO_TIME
from pytest_autodeploy.limits.sensitivity import CHANNEL, STEP, STEPS
from pytest_autodeploy.limits.tolerance import Tolerance
from pytest_autodeploy.model.graph import Model
from pytest_autodeploy.model.load import load_model
from pytest_autodeploy.model.parse import parse
from pytest_autodeploy.reference.compare import compare
from pytest_autodeploy.reference.inputs import Inputs, as_inputs, random_inputs
from pytest_autodeploy.reference.runner import Reference
from tests.helpers import odd_prober
from tests.helpers.diverging_board import session_on
from tests.helpers.support import DIGITS
from tests.helpers.tflite_builder import (
    Subgraph,
    TensorSpec,
    build_model,
    constant,
    operator,
    svdf,
    tensor,
)
from tests.helpers.wrong_operators import (
    Array,
    Arrays,
    has_happened,
    is_predicted,
    outputs_with_zero_point,
    with_weights_from_elsewhere,
)

DIGITS_MODEL = load_model(DIGITS)
OPERATORS = len(DIGITS_MODEL.operators)


def of(content: bytes) -> Model:
    return parse(Path("made.tflite"), content)


def told(
    model: Model, inputs: Inputs | None = None, tolerance: Tolerance | None = None, **options: Any
) -> Sensitivity:
    """The sensitivity of inputs, with what the PC gives for them."""
    inputs = inputs or random_inputs(model, 3, 1)
    with Reference(model) as reference:
        by_path = reference.run(inputs, reset_each=options.get("reset_each", False))
    return sensitivity(model, inputs, by_path, tolerance or Tolerance(), **options)


def on_pc(model: Model, arrays: Arrays) -> tuple[Array, ...]:
    """What TFLM on this PC gives."""
    with Reference(model, paths=("tflm",)) as reference:
        return reference.run(Inputs(tuple(arrays), "given"))["tflm"]


def int8(shape: tuple[int, ...], name: str, scale: float = 0.05) -> TensorSpec:
    return tensor(shape, "int8", scale=scale, name=name)


def dead_end() -> bytes:
    """Two ReLUs of the input, of which only the first is an output of the model."""
    x, y, unused = int8((1, 4), "x"), int8((1, 4), "y"), int8((1, 4), "unused")
    steps = [operator("RELU", [x], [y]), operator("RELU", [x], [unused])]
    return build_model(operators=steps, inputs=[x], outputs=[y])


def delayed_sum(*, late: bool = False) -> bytes:
    """A sum of all inputs; the output is the sum before this inference, ``late`` the one after it.

    CALL_ONCE, VAR_HANDLE, READ_VARIABLE, ADD, ASSIGN_VARIABLE, and perhaps READ_VARIABLE.
    """
    variable = {"container": "", "shared_name": "sum"}
    handle, first = tensor((), "resource"), tensor((), "resource")
    x, old, new, again = (tensor((1, 4), name=name) for name in ("x", "old", "new", "again"))
    initial = Subgraph(
        [
            operator("VAR_HANDLE", [], [first], options=variable),
            operator("ASSIGN_VARIABLE", [first, constant([[0.0] * 4], "float32")], []),
        ]
    )
    steps = [
        operator("CALL_ONCE", [], [], options={"init_subgraph_index": 1}),
        operator("VAR_HANDLE", [], [handle], options=variable),
        operator("READ_VARIABLE", [handle], [old]),
        operator("ADD", [old, x], [new]),
        operator("ASSIGN_VARIABLE", [handle, new], []),
        *([operator("READ_VARIABLE", [handle], [again])] if late else []),
    ]
    output = again if late else old
    return build_model(operators=steps, inputs=[x], outputs=[output], more_subgraphs=[initial])


def certain_classifier() -> bytes:
    """A MUL by itself, and a SOFTMAX that is sure of one class for inputs that are far apart."""
    x, squares = int8((1, 4), "x"), int8((1, 4), "squares", 1.0)
    classes = tensor((1, 4), "int8", scale=1 / 256, zero_point=-128, name="classes")
    steps = [
        operator("MUL", [x, x], [squares]),
        operator("SOFTMAX", [squares], [classes], options={"beta": 1.0}),
    ]
    return build_model(operators=steps, inputs=[x], outputs=[classes])


def noticed(found: Sensitivity, change: str) -> list[int]:
    """The positions of the operators whose change is noticed."""
    return [
        o.position for o in found.operators if change in o.changes and o.changes[change].noticed
    ]


def test_an_operator_that_nothing_reads_is_never_noticed() -> None:
    found = told(of(dead_end()))
    assert noticed(found, STEPS) == [0]
    assert [each.label for each in found.unnoticed(STEPS)] == ["1 RELU"]
    assert describe(found).startswith("1 of 2 operators would be noticed at 64 steps")
    assert "; not noticed: 1 RELU" in describe(found)


def test_a_change_within_the_tolerance_is_not_noticed() -> None:
    model = of(dead_end())
    assert noticed(told(model), STEP) == []
    assert noticed(told(model, tolerance=Tolerance(lsb=0)), STEP) == [0]
    assert noticed(told(model, tolerance=Tolerance(lsb=64)), STEPS) == []
    assert noticed(told(model, tolerance=Tolerance(lsb=63)), STEPS) == [0]


def test_inputs_for_which_a_classifier_is_certain_tell_less_than_others() -> None:
    model = of(certain_classifier())
    certain = as_inputs(np.array([[127, 0, 0, 0]], np.int8), model)
    open_ = as_inputs(np.array([[1, 0, 0, -1]], np.int8), model)
    assert noticed(told(model, certain), STEP) == []
    assert noticed(told(model, open_), STEP) == [0]


def test_a_change_in_one_channel_is_noticed_when_each_of_them_is() -> None:
    found = told(DIGITS_MODEL)
    variants = {each.label: each.changes[CHANNEL].variants for each in found.operators}
    assert max(variants.values()) == 4
    for each in found.operators:
        change = each.changes[CHANNEL]
        assert change.noticed == (change.seen == change.variants)


@pytest.mark.parametrize("kind", ["corrupt-op", "round-op"])
def test_what_is_predicted_happens_on_a_board_with_that_fault(kind: str) -> None:
    change = {"corrupt-op": STEPS, "round-op": STEP}[kind]
    inputs = random_inputs(DIGITS_MODEL, 2, 1)
    with Reference(DIGITS_MODEL) as reference:
        by_path = reference.run(inputs)
    found = sensitivity(DIGITS_MODEL, inputs, by_path, Tolerance())
    for position in (0, OPERATORS // 2, OPERATORS - 1):
        with session_on(DIGITS_MODEL, f"{kind}:{position}", inputs=2) as session:
            outputs = session.run().outputs
        failed = not compare(DIGITS_MODEL, outputs, by_path, Tolerance()).passed
        assert failed == (position in noticed(found, change))


def test_what_is_predicted_happens_with_faults_that_no_probe_has() -> None:
    """Another zero point, and weights from one place too far; a benchmark does it for all models.

    What SOFTMAX gives does not depend on the zero point of its input, so this is not foreseen.
    """
    inputs = random_inputs(DIGITS_MODEL, 4, 1)
    with Reference(DIGITS_MODEL) as reference:
        by_path = reference.run(inputs)
    found = sensitivity(DIGITS_MODEL, inputs, by_path, Tolerance(), each=True)
    unforeseen = set()
    for probed in (found.operators[0], found.operators[5]):
        at = probed.position
        moved = outputs_with_zero_point(DIGITS_MODEL, at, 64, inputs.arrays, on_pc)
        wrong = on_pc(with_weights_from_elsewhere(DIGITS_MODEL, at), inputs.arrays)
        assert moved is not None
        for kind, outputs in (("zero point", moved), ("weights", wrong)):
            for chosen in ([0, 1], [0, 1, 2, 3]):
                predicted = is_predicted(probed, STEPS, chosen)
                if predicted != has_happened(DIGITS_MODEL, outputs, {**by_path}, chosen):
                    unforeseen.add((probed.label, kind))
    assert unforeseen <= {("5 FULLY_CONNECTED", "zero point")}


def test_an_inference_that_fails_already_is_held_against_itself() -> None:
    """Else a model that is off by itself would seem to notice everything."""
    model = of(dead_end())
    inputs = random_inputs(model, 2, 1)
    with Reference(model) as reference:
        outputs = reference.run(inputs)["ref"]
    moved = tuple(np.bitwise_xor(output, np.int8(0x40)) for output in outputs)
    found = sensitivity(model, inputs, {"ref": moved}, Tolerance())
    assert found.doubtful == (0, 1)
    assert noticed(found, STEPS) == [0]


def test_state_is_carried_or_reset_as_in_the_run() -> None:
    """Of an SVDF that keeps samples, the wrong outputs count, and state goes on."""
    model = of(svdf())
    for reset in (False, True):
        assert noticed(told(model, reset_each=reset), STEPS) == [0]


def test_a_variable_carries_what_is_wrong_to_the_next_inference() -> None:
    """The output is the sum so far, so the ADD behind it shows one inference later."""
    model = of(delayed_sum())
    one, two = (told(model, random_inputs(model, count, 1)) for count in (1, 2))
    assert [each.label for each in one.operators] == ["2 READ_VARIABLE", "3 ADD"]
    assert (noticed(one, STEPS), noticed(two, STEPS)) == ([2], [2, 3])
    assert two.operators[1].changes[STEPS].by == ((1,),)
    assert two.complete
    reset = told(model, random_inputs(model, 2, 1), reset_each=True)
    assert noticed(reset, STEPS) == [2]


def test_variables_that_are_used_in_another_way_are_told() -> None:
    """Read after it was assigned, a variable holds what an operator of this inference made."""
    found = told(of(delayed_sum(late=True)))
    assert [each.position for each in found.unknown] == [2, 3]
    assert "several READ_VARIABLE" in found.unknown[0].unknown


def test_a_crash_is_told_of_its_operator_and_the_others_are_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(trials, "PROGRAM", odd_prober.PROGRAM)
    monkeypatch.setenv("ODD_CRASH", "1")
    found = told(DIGITS_MODEL)
    assert [each.position for each in found.unknown] == [1]
    assert "died of SIGABRT" in found.unknown[0].unknown
    assert not found.complete
    assert f"not known of {found.unknown[0].label}: " in describe(found)
    assert found.counted(STEPS).known == OPERATORS - 1


@pytest.mark.slow
def test_an_operator_that_hangs_costs_no_more_than_the_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(trials, "PROGRAM", odd_prober.PROGRAM)
    monkeypatch.setenv("ODD_HANG", "2")
    found = told(DIGITS_MODEL, seconds=8)
    assert [(each.position, each.unknown) for each in found.unknown] == [
        (0, NO_TIME),
        (1, NO_TIME),
        (2, NO_TIME),
    ]
    assert found.counted(STEPS).known == OPERATORS - 3


def test_a_model_that_tflm_cannot_run_is_one_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "PROGRAM", odd_prober.PROGRAM)
    monkeypatch.setenv("ODD_CRASH", "None")
    with pytest.raises(ReferenceFailed, match="TFLM on this PC cannot run made"):
        told(of(dead_end()))


def test_without_tflm_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(MissingExtra, match="sim"):
        sensitivity(DIGITS_MODEL, random_inputs(DIGITS_MODEL, 1, 1), {}, Tolerance())
