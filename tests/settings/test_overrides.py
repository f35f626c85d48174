"""What the fixtures that are override points may return."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pytest_autodeploy.board.select import board_options
from pytest_autodeploy.power.choose import OPTIONS
from pytest_autodeploy.settings.overrides import (
    METER,
    SESSION,
    SESSION_OPTIONS,
    OverrideError,
    checked,
)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"clock": "hp"}, "clock is 'hp', not one of HP, LP"),
        ({"clock": True}, "clock is True, not one of HP, LP"),
        ({"latency_runs": 0}, "latency_runs is 0, not a whole number of at least 1"),
        ({"latency_runs": True}, "latency_runs is True, not a whole number of at least 1"),
        ({"arena_bytes": "64k"}, "arena_bytes is '64k', not a whole number of at least 0"),
        ({"arena_bytes": 64.5}, "arena_bytes is 64.5, not a whole number of at least 0"),
        ({"arena_bytes": -4}, "arena_bytes is -4, not a whole number of at least 0"),
        ({"arena_bytes": 1 << 32}, "arena_bytes is 4294967296, not a whole number of at least 0"),
        ({"state": "keep"}, "state is 'keep', not one of carry, reset"),
        ({"states": 1, 2: 3}, "2, states unknown; valid are arena_bytes, clock, latency_runs, st"),
        (None, "None is no dictionary\n  Valid are arena_bytes, a whole number of at least 0"),
        ([("clock", "LP")], "[('clock', 'LP')] is no dictionary"),
    ],
)
def test_what_a_session_cannot_use_names_the_fixture(options: object, words: str) -> None:
    with pytest.raises(OverrideError) as error:
        checked(SESSION, options, SESSION_OPTIONS)
    assert str(error.value).startswith(f"model_session_options: {words}")


def test_whole_numbers_of_numpy_are_whole_numbers() -> None:
    chosen = checked(SESSION, {"arena_bytes": np.int64(4096)}, SESSION_OPTIONS)
    assert chosen == {"arena_bytes": 4096}
    assert type(chosen["arena_bytes"]) is int


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"sim_argument": []}, "sim_argument unknown; valid are sim_arguments"),
        ({"sim_arguments": "--slowdown 5"}, "sim_arguments is '--slowdown 5', not a list of str"),
        ({"sim_arguments": ["--slowdown", 5]}, "sim_arguments is ['--slowdown', 5], not a list of"),
        ({"sim_arguments": ["--nope"]}, "sim_arguments: unrecognized arguments: --nope"),
        ({"sim_arguments": ["--help"]}, "sim_arguments: unrecognized arguments: --help"),
        ({"sim_arguments": ["--fault", "x"]}, "sim_arguments: argument --fault: no fault 'x'"),
        (None, "None is no dictionary\n  Valid are sim_arguments, a list of strings."),
    ],
)
@pytest.mark.parametrize("board", ["sim:apollo4p_evb", "apollo4p_evb"])
def test_what_a_board_cannot_use_names_the_fixture(options: object, words: str, board: str) -> None:
    with pytest.raises(OverrideError) as error:
        board_options(board, options)
    assert str(error.value).startswith(f"evb_options: {words}")


def test_arguments_of_simulated_boards_do_not_disturb_others() -> None:
    options = {"sim_arguments": ["--fault", "die@invoke"]}
    assert board_options("qemu:mps2-an386", options) == options


@pytest.mark.parametrize("volts", ["3.3", 3.4, True, None, -1, float("nan")])
def test_what_a_meter_cannot_use_names_the_fixture(volts: Any) -> None:
    with pytest.raises(OverrideError, match=r"power_meter_options: io_voltage is .*3\.3, 3\.6, 5"):
        checked(METER, {"io_voltage": volts}, OPTIONS)
    assert checked(METER, {"io_voltage": 3.3}, OPTIONS) == {"io_voltage": 3.3}
