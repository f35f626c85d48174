"""A model whose arena did not fit the memory that was likely to do gets the largest one."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_autodeploy.base.errors import BoardRefused
from pytest_autodeploy.catalog.boards import BoardSpec, board_spec
from pytest_autodeploy.catalog.fit import Placement
from pytest_autodeploy.image.image import Image
from pytest_autodeploy.model.load import load_model
from pytest_autodeploy.reference.inputs import random_inputs
from pytest_autodeploy.rpc.messages import BoardReport, ClockMode, ModelState, ResetCause
from pytest_autodeploy.session.model_session import ModelSession
from tests.helpers.rpc_board import IDENTITY
from tests.helpers.support import DIGITS

MODEL = load_model(DIGITS)


class Board:
    """Refuses every arena in its fast memory; with ``alone`` it has no other one."""

    id = "apollo3p_evb"
    port = None

    def __init__(self, *, alone: bool = False) -> None:
        self.spec: BoardSpec = board_spec(self.id)
        self.alone = alone
        self.loaded: list[Image] = []

    @property
    def client(self) -> Board:
        return self

    def load(self, image: Image) -> Any:
        self.loaded.append(image)
        return IDENTITY

    def identify(self) -> Any:
        return IDENTITY

    def set_clock(self, mode: ClockMode) -> None:
        """As it is."""

    def keep_tensors(self, keep: bool) -> None:
        """As it is."""

    def describe_board(self) -> BoardReport:
        return BoardReport((), 0, ResetCause.POWER_ON, "", 0)

    def placement(self, image: Image) -> Placement:
        return Placement("mram", "sram" if image.roomy and not self.alone else "dtcm", 0)

    def configure(self, _arena_bytes: int) -> ModelState:
        if self.placement(self.loaded[-1]).arena_memory == "dtcm":
            raise BoardRefused("configure", status="NO_MEMORY", text="too small", board=self.id)
        return ModelState(100_000, 90_000, 1, 1, 1, 0)

    def explain(self, error: Any) -> Any:
        return error

    def discard(self) -> None:
        """Nothing to give up."""


def session_on(board: Board) -> ModelSession:
    return ModelSession(MODEL, board, inputs=random_inputs(MODEL, 1, seed=1))  # type: ignore[arg-type]


def test_it_is_built_again_for_the_largest_memory() -> None:
    board = Board()
    session = session_on(board)
    assert session.state.arena_bytes == 100_000
    assert [image.roomy for image in board.loaded] == [False, True]
    assert session.placement is not None
    assert session.placement.arena_memory == "sram"


def test_where_there_is_no_other_memory_the_refusal_stands() -> None:
    board = Board(alone=True)
    with pytest.raises(BoardRefused, match="too small"):
        _ = session_on(board).state
    assert len(board.loaded) == 1
