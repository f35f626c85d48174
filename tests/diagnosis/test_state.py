"""Models with state: a kernel that drops it, a fault in one, and outputs that are not finite."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_autodeploy.board.simulated import SimulatedBoard
from pytest_autodeploy.diagnosis.explanation import text
from pytest_autodeploy.diagnosis.state import drops_state, stateful_operators
from pytest_autodeploy.image.image import Image
from pytest_autodeploy.limits.tolerance import Tolerance
from pytest_autodeploy.model.graph import Model
from pytest_autodeploy.model.parse import parse
from pytest_autodeploy.rpc.messages import Identity
from tests.helpers import tflite_builder as build
from tests.helpers.deliver_examples import lstm
from tests.helpers.diverging_board import explained, session_on

LOOSE = Tolerance(rtol=1e-4)


class Forgetful(SimulatedBoard):
    """A board whose kernels lose their state after every inference."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._forgetful: list[Any] = []

    def load(self, image: Image) -> Identity:
        identity = super().load(image)
        client = self.client
        if client not in self._forgetful:
            self._forgetful.append(client)
            infer_each = client.infer_each

            def forgetting(samples: Any, *arguments: Any, **options: Any) -> Iterator[Any]:
                for sample in samples:
                    client.reset_state()
                    yield from infer_each([sample], *arguments, **options)

            client.infer_each = forgetting  # type: ignore[method-assign]
        return identity


def model(content: bytes) -> Model:
    return parse(Path("model.tflite"), content)


@pytest.mark.parametrize(
    ("content", "operator"),
    [
        (build.svdf(), "0 SVDF"),
        (lstm(), "0 UNIDIRECTIONAL_SEQUENCE_LSTM"),
        (build.running_sum(), "2 READ_VARIABLE"),
    ],
)
def test_a_kernel_that_drops_its_state_is_told_with_the_operator(
    content: bytes, operator: str, tmp_path: Path
) -> None:
    (tmp_path / "model.tflite").write_bytes(content)
    stateful = parse(tmp_path / "model.tflite", content)
    with session_on(stateful, kind=Forgetful, inputs=6) as session:
        found = explained(session, LOOSE)
    assert found.cause == "state"
    assert found.headline == "the board: a kernel drops its state"
    assert "over 6 inferences the board gives what TFLM on the PC gives when" in found.lines[0]
    assert operator in found.found.where
    assert "link a kernel that keeps its state" in text(found)


def test_a_board_that_keeps_its_state_agrees_over_the_whole_run() -> None:
    with session_on(model(build.svdf()), inputs=6) as session:
        run = session.run()
    assert run.outputs[0].shape[0] == 6


@pytest.mark.parametrize(
    ("content", "label"),
    [(build.svdf(), "0 SVDF"), (lstm(), "0 UNIDIRECTIONAL_SEQUENCE_LSTM")],
)
def test_a_fault_in_an_operator_with_state_is_located(
    content: bytes, label: str, tmp_path: Path
) -> None:
    (tmp_path / "model.tflite").write_bytes(content)
    stateful = parse(tmp_path / "model.tflite", content)
    with session_on(stateful, "corrupt-op:0", inputs=4) as session:
        found = explained(session, LOOSE)
    assert found.cause == "board"
    assert found.found.operator is not None
    assert found.found.operator.label == label
    assert "where: it starts in operator" in text(found)


def test_operators_that_keep_something_are_known() -> None:
    assert [op.name for op in stateful_operators(model(build.running_sum()))] == [
        "READ_VARIABLE",
        "ASSIGN_VARIABLE",
    ]
    assert stateful_operators(model(build.fully_connected())) == []


def outputs(*values: float) -> list[np.ndarray]:
    return [np.array(values, np.float32).reshape(-1, 1, 1)]


@pytest.mark.parametrize(
    ("board", "carried", "fresh", "dropped"),
    [
        ([1, 1, 1], [1, 2, 3], [1, 1, 1], True),
        ([1.01, 0.99, 1], [1, 2, 3], [1, 1, 1], True),  # it rounds otherwise
        ([1, 2, 3], [1, 2, 3], [1, 1, 1], False),
        ([1, 5, 9], [1, 2, 3], [1, 1, 1], False),
        ([1], [1], [1], False),  # one inference tells nothing
    ],
)
def test_dropped_state_needs_several_inferences_and_the_pc_without_it(
    board: list[float], carried: list[float], fresh: list[float], dropped: bool
) -> None:
    one = model(build.relu((1, 1)))
    sides = (outputs(*board), outputs(*carried), outputs(*fresh))
    assert drops_state(one, *sides, LOOSE) is dropped


def test_what_the_model_itself_makes_nan_is_not_blamed_on_the_board(tmp_path: Path) -> None:
    x, low, y = (build.tensor((1, 4), name=name) for name in ("x", "low", "y"))
    below = build.constant([[-9.0] * 4], "float32")
    steps = [build.operator("MINIMUM", [x, below], [low]), build.operator("SQRT", [low], [y])]
    content = build.build_model(operators=steps, inputs=[x], outputs=[y])
    (tmp_path / "root.tflite").write_bytes(content)
    with session_on(parse(tmp_path / "root.tflite", content)) as session:
        found = explained(session, LOOSE)
    assert found.cause == "model"
    assert "8 of 8 elements are NaN" in found.lines[0]
    assert found.found.where.endswith("on the PC makes the first in operator 1 SQRT")
    assert 'nan="allow"' in text(found)
