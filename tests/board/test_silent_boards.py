"""A board behind a port that does not answer: the error says what to look at."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pytest_autodeploy.base.errors import BoardTimeout, BoardUnavailable
from pytest_autodeploy.board.attached import AttachedBoard
from pytest_autodeploy.board.silence import NOT_YET, with_advice
from pytest_autodeploy.catalog.boards import board_spec
from pytest_autodeploy.image.image import Image
from pytest_autodeploy.model.load import load_model
from tests.helpers.support import DIGITS

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pseudo terminals")

KEEPS_OPEN = "import os, sys; os.open(sys.argv[1], os.O_RDWR); print(flush=True); sys.stdin.read()"


@pytest.fixture
def silent_port() -> Iterator[str]:
    """A port behind which nobody answers."""
    ours, theirs = os.openpty()
    yield os.ttyname(theirs)
    os.close(ours)
    os.close(theirs)


def attached(port: str) -> AttachedBoard:
    """A board behind a port that has a second for each call."""
    return AttachedBoard("sim:apollo4p_evb", board_spec("apollo4p_evb"), port, timeout_s=0.5)


@pytest.fixture
def other_program(silent_port: str) -> Iterator[int]:
    """The process id of a program that has the port open, too."""
    with subprocess.Popen(
        [sys.executable, "-c", KEEPS_OPEN, silent_port],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process.pid
        process.kill()


def advice(board: AttachedBoard) -> str:
    """What is told of a board that is silent when it is loaded."""
    with closing(board), pytest.raises(BoardTimeout, match="identify: no answer") as caught:
        board.load(Image(load_model(DIGITS)))
    assert board.explain(caught.value) is caught.value
    return str(caught.value)


def test_power_cable_port_and_firmware_are_named(silent_port: str) -> None:
    first, *lines = advice(attached(silent_port)).splitlines()
    assert "identify: no answer" in first
    assert [line.split(":")[0].strip() for line in lines] == ["power and cable", "port", "firmware"]
    assert silent_port in lines[1]
    assert "open in" not in lines[1]


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="/proc is Linux's")
def test_a_program_that_takes_the_answers_is_named(silent_port: str, other_program: int) -> None:
    text = advice(attached(silent_port))
    assert f"({other_program}), which takes the answers" in text
    assert f"({os.getpid()})" not in text


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="/proc is Linux's")
def test_the_program_that_a_busy_port_belongs_to_is_named(silent_port: str) -> None:
    with closing(attached(silent_port)) as first:
        with pytest.raises(BoardTimeout):
            first.load(Image(load_model(DIGITS)))
        code = (
            "import sys\nfrom pytest_autodeploy.rpc.link import Link\n"
            "try: Link(sys.argv[1], board='evb')\nexcept Exception as error: print(error)"
        )
        said = subprocess.run(
            [sys.executable, "-c", code, silent_port], capture_output=True, text=True, check=True
        ).stdout
    assert "is in use by another program" in said
    assert (
        f"end that program: {Path('/proc/self/comm').read_text().strip()} ({os.getpid()})" in said
    )


def test_a_server_that_is_silent_is_looked_at(silent_port: str) -> None:
    error = BoardTimeout("identify: no answer", board="evb", seconds=2.0)
    assert "the server behind socket://host:1 has to be" in str(
        with_advice(error, "socket://host:1")
    )


def test_a_board_that_is_silent_in_a_later_call_may_need_longer() -> None:
    error = BoardTimeout("invoke: no answer", board="evb", seconds=2.0, hint="3 stray bytes")
    told = with_advice(error, "/dev/ttyACM0")
    assert str(told).splitlines()[1:] == [
        "  3 stray bytes",
        "  the board may have crashed in the call, or need longer: --evb-timeout SECONDS",
    ]
    assert with_advice(told, "/dev/ttyACM0") is told


def test_a_call_before_a_model_is_loaded_says_what_to_do_first() -> None:
    with pytest.raises(BoardUnavailable) as caught:
        _ = attached("/dev/none").client
    assert caught.value.hint == NOT_YET
