"""A board that breaks during many samples: where it goes on, how often, and what is told."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from pytest_autodeploy.base.errors import BoardDied, BoardError, InputsError
from pytest_autodeploy.board.base import use_of
from pytest_autodeploy.limits.accuracy import Task
from pytest_autodeploy.reference.labels import Labels
from pytest_autodeploy.session.labelled_run import run_labelled, run_resumable
from tests.helpers.reference_stand_ins import tensor

COUNT = 6


class Breaking:
    """A session whose board breaks at samples, in turn."""

    def __init__(self, *breaks: int, stateful: bool = False, reset_each: bool = False) -> None:
        self.breaks = list(breaks)
        outputs = (tensor("a", (1, 2), "float32"), tensor("b", (1, 3), "float32"))
        self.model = SimpleNamespace(stateful=stateful, outputs=outputs)
        self.reset_each = reset_each
        self.board = SimpleNamespace(id="sim:x")
        self.ran: list[int] = []
        self.set_ups = 0
        self.task = Task(2, 1)
        self.labels: Labels | None = None

    def empty_outputs(self, count: int) -> tuple[Any, ...]:
        return tuple(np.zeros((count, *each.shape), np.float32) for each in self.model.outputs)

    def set_up(self) -> None:
        self.set_ups += 1

    def infer_from(self, inputs: Any, first: int, outputs: Any) -> Iterator[int]:
        for number in range(first, inputs.count):
            if self.breaks and number == self.breaks[0]:
                self.breaks.pop(0)
                raise BoardDied("invoke: gone", board="sim:x", seconds=2.0, hint="look")
            self.ran.append(number)
            for output in outputs:
                output[number] = number
            yield number

    def infer(self, inputs: Any, number: int, outputs: Any) -> None:
        next(self.infer_from(inputs, number, outputs))


def run(session: Breaking) -> tuple[Any, tuple[str, ...]]:
    return run_resumable(cast(Any, session), cast(Any, SimpleNamespace(count=COUNT)))


def test_a_board_that_holds_runs_each_sample_once() -> None:
    session = Breaking()
    (outputs, *_), restarts = run(session)
    assert session.ran == list(range(COUNT))
    assert outputs[:, 0, 0].tolist() == session.ran
    assert (restarts, session.set_ups) == ((), 1)


def test_a_board_goes_on_from_the_sample_that_failed() -> None:
    session = Breaking(0, 3, 5)
    before = use_of(cast(Any, session.board)).retries
    _, restarts = run(session)
    assert session.ran == list(range(COUNT))
    assert restarts == tuple(f"sample {number}: invoke: gone" for number in (0, 3, 5))
    assert session.set_ups == 4
    assert use_of(cast(Any, session.board)).retries - before == 3


@pytest.mark.parametrize(("reset_each", "ran"), [(False, [0, 1, 0, 1, 2]), (True, [0, 1, 2])])
def test_state_that_is_carried_begins_anew(reset_each: bool, ran: list[int]) -> None:
    session = Breaking(2, stateful=True, reset_each=reset_each)
    run(session)
    assert session.ran[: len(ran)] == ran
    assert session.ran[-1] == COUNT - 1


def test_a_sample_that_breaks_the_board_twice_is_named() -> None:
    with pytest.raises(
        BoardDied, match="sample 3 of 6, for the second time: invoke: gone"
    ) as raised:
        run(Breaking(3, 3))
    assert (raised.value.seconds, raised.value.hint) == (2.0, "look")


def test_a_board_may_break_three_times() -> None:
    assert len(run(Breaking(1, 2, 3))[1]) == 3
    with pytest.raises(BoardError, match="sample 4 of 6, the board broke 4 times"):
        run(Breaking(1, 2, 3, 4))


def labelled(session: Breaking, labels: Any, seed: int | None = None, **task: int | None) -> Any:
    inputs = SimpleNamespace(count=COUNT, seed=seed)
    asked = {"top_k": None, "output": None} | task
    return run_labelled(cast(Any, session), cast(Any, inputs), labels, **asked)


def test_the_task_is_the_sessions_own_unless_it_is_given() -> None:
    labels = np.zeros(COUNT, int)
    assert labelled(Breaking(), labels).task == Task(2, 1)
    assert labelled(Breaking(), labels, top_k=1, output=0).task == Task(1, 0)
    assert labelled(Breaking(), labels, top_k=1).task == Task(1, 1)


def test_labels_are_those_that_are_given_or_the_sessions_own() -> None:
    session = Breaking(4)
    session.labels = Labels(np.full(COUNT, 2), "its own")
    own = labelled(session, None)
    assert (own.labels.origin, own.restarts) == ("its own", ("sample 4: invoke: gone",))
    assert own.board.tensor.name == "b"
    assert labelled(session, np.zeros(COUNT, int)).labels.array.tolist() == [0] * COUNT


@pytest.mark.parametrize(
    ("labels", "seed", "output", "says"),
    [
        (None, None, 0, "accuracy: there are no labels"),
        (np.zeros(COUNT, int), 3, 0, "the inputs are random ones"),
        (np.zeros(COUNT, int), 0, 0, "the inputs are random ones"),
        (np.zeros(COUNT, int), None, 2, "accuracy: no output 2; the model has 0 'a', 1 'b'"),
        (np.zeros(COUNT - 1, int), None, 0, "5 labels for 6 inputs"),
    ],
    ids=["none", "seed 3", "seed 0", "output", "count"],
)
def test_labels_that_cannot_be_are_refused_before_anything_runs(
    labels: Any, seed: int | None, output: int, says: str
) -> None:
    session = Breaking()
    with pytest.raises(InputsError, match=says):
        labelled(session, labels, seed, output=output)
    assert session.ran == []
