"""Children of the PC's side go from model to model, and never bring anything with them."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack

import numpy as np
import pytest

from pytest_autodeploy.base.errors import ReferenceFailed
from pytest_autodeploy.model.load import load_model
from pytest_autodeploy.reference.child import PROGRAM, Child, Spares
from pytest_autodeploy.reference.runner import Reference
from tests.helpers.support import KWS, MODELS

DIGITS = MODELS / "digits_cnn.tflite"


@pytest.fixture
def spares() -> Iterator[Spares]:
    """Spares that end with the test."""
    made = Spares()
    yield made
    made.close()


def pid_of(reference: Reference) -> int | None:
    """The process of a reference."""
    return reference._process.pid


def test_the_next_model_takes_the_child_and_computes_what_a_new_one_does(spares: Spares) -> None:
    with ExitStack() as stack:
        references = [
            stack.enter_context(Reference(load_model(file), spares=spares))
            for file in (KWS, DIGITS, KWS)
        ]
        pids, outputs = [], []
        for reference in references:
            outputs.append(reference.run(3))
            pids.append(pid_of(reference))
            reference.rest()
        alone = stack.enter_context(Reference(load_model(DIGITS))).run(3)

    assert len(set(pids)) == 1
    for path, (array,) in alone.items():
        np.testing.assert_array_equal(outputs[1][path][0], array)
    for path, (array,) in outputs[0].items():
        np.testing.assert_array_equal(outputs[2][path][0], array)


def test_a_child_that_owes_replies_is_not_left_to_others(spares: Spares) -> None:
    with Reference(load_model(KWS), spares=spares) as reference:
        reference.start()
        reference.rest()
        assert pid_of(reference) is None

    assert spares.take(PROGRAM) is None


def test_a_child_that_has_died_meanwhile_is_not_taken(spares: Spares) -> None:
    with Reference(load_model(KWS), spares=spares) as first:
        first.run(1)
        first.rest()
    child = spares.take(PROGRAM)
    assert child is not None
    os.kill(child.pid, signal.SIGKILL)
    assert child._process.end(30) is not None
    spares.give(PROGRAM, child)

    with Reference(load_model(DIGITS), spares=spares) as second:
        assert second.run(1)
        assert pid_of(second) != child.pid


def test_a_crash_of_a_child_that_ran_other_models_is_tried_in_a_new_one(spares: Spares) -> None:
    with Reference(load_model(KWS), spares=spares) as first:
        first.run(1)
        first.rest()
    with Reference(load_model(DIGITS), spares=spares) as second:
        second.run(1)
        before = pid_of(second)
        assert before is not None
        os.kill(before, signal.SIGSEGV)

        assert set(second.run(2)) == {"ref", "optimized", "xnnpack"}
        assert pid_of(second) != before


def test_a_crash_of_a_new_child_is_the_models(spares: Spares) -> None:
    with Reference(load_model(KWS), paths=("ref",), spares=spares) as reference:
        reference.run(1)
        pid = pid_of(reference)
        assert pid is not None
        os.kill(pid, signal.SIGSEGV)

        with pytest.raises(ReferenceFailed, match="SIGSEGV"):
            reference.run(2)


def test_spares_end_their_children(spares: Spares) -> None:
    child = Child()
    spares.give("a program", child)
    spares.close()

    assert not child.running
