"""What the run gives each session: its inputs and its number of timed inferences."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_autodeploy.catalog.kinds import EMULATED
from pytest_autodeploy.model.load import load_model
from pytest_autodeploy.run.runtime import Runtime
from pytest_autodeploy.settings.options import OPTIONS
from pytest_autodeploy.settings.settings import resolve
from tests.helpers.support import DIGITS

MODEL = load_model(DIGITS)


@contextmanager
def runtime(**options: Any) -> Iterator[Runtime]:
    settings = resolve(
        OPTIONS,
        lambda dest: options.get(dest.removeprefix("autodeploy_")),
        lambda _name: None,
        Path("/"),
    )
    run = Runtime(settings, lambda _what, _done, _total: None)
    try:
        yield run
    finally:
        run.close()


@pytest.mark.parametrize(
    ("board", "options", "count"),
    [
        ("sim:apollo4p_evb", {}, 10),
        ("qemu:mps3-an547", {}, EMULATED.random_runs),
        ("qemu:mps3-an547", {"runs": "7"}, 7),
        ("apollo4p_evb", {}, 10),
    ],
)
def test_an_emulated_board_gets_fewer_inputs_unless_a_number_is_given(
    board: str, options: dict[str, Any], count: int
) -> None:
    with runtime(**options) as run:
        assert run.sessions.open(MODEL, run.boards.board(board)).inputs.count == count


def test_the_inputs_of_an_emulated_board_are_the_first_of_the_others() -> None:
    with runtime() as run:
        fewer = run.sessions.open(MODEL, run.boards.board("qemu:mps2-an386")).inputs.arrays[0]
        assert np.array_equal(fewer, run.data.inputs(MODEL).arrays[0][: len(fewer)])
