"""``--evb-port``: attaching to a board that already runs its model."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pytest_autodeploy.base.errors import BoardUnavailable
from pytest_autodeploy.board.attached import AttachedBoard
from pytest_autodeploy.catalog.boards import board_spec
from pytest_autodeploy.image.image import Image
from pytest_autodeploy.model.load import load_model
from tests.helpers.support import DIGITS, KWS


@contextmanager
def running_board(model: Path, *arguments: str) -> Iterator[str]:
    """A simulated board that runs a model; gives its port."""
    command = [sys.executable, "-m", "pytest_autodeploy.sim", "--board", "apollo4p_evb"]
    with subprocess.Popen(
        [*command, "--model", str(model), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdout is not None
        yield str(json.loads(process.stdout.readline())["port"])
        process.terminate()


@pytest.mark.parametrize("transport", [(), ("--tcp", "127.0.0.1:0")], ids=["pty", "tcp"])
def test_a_running_board_is_used_as_it_is(
    pytester: pytest.Pytester, digits: Path, transport: tuple[str, ...]
) -> None:
    with running_board(digits, *transport) as port:
        for _again in range(2):
            result = pytester.runpytest("--tflite", digits.name, "--evb-port", port)
            result.assert_outcomes(passed=4)
            result.stdout.fnmatch_lines([f"*sim:apollo4p_evb, simulated: *; port {port}"])


def test_a_board_with_another_model_is_refused(pytester: pytest.Pytester, digits: Path) -> None:
    with running_board(KWS) as port:
        result = pytester.runpytest("--tflite", digits.name, "--evb-port", port)
    result.assert_outcomes(errors=4)
    result.stdout.fnmatch_lines(
        ["board broke: sim:apollo4p_evb: it runs a model of*, not digits_cnn*"]
    )


@pytest.mark.parametrize(
    ("evb", "says"),
    [
        ("sim:apollo510_evb", "*the port answers as 'apollo4p_evb', not as 'apollo510_evb'"),
        ("apollo4p_evb", "*answers as a board of the kind 'simulated'"),
    ],
)
def test_a_board_that_is_not_the_one_asked_for_is_refused(
    pytester: pytest.Pytester, digits: Path, evb: str, says: str
) -> None:
    with running_board(digits) as port:
        result = pytester.runpytest("--tflite", digits.name, "--evb", evb, "--evb-port", port)
    result.assert_outcomes(errors=4)
    result.stdout.fnmatch_lines([says])


def test_a_board_that_another_run_uses_is_refused() -> None:
    model = load_model(DIGITS)

    def attach(timeout_s: float) -> AttachedBoard:
        spec = board_spec("apollo4p_evb")
        board = AttachedBoard("sim:apollo4p_evb", spec, port, timeout_s=5, lock_timeout_s=timeout_s)
        board.load(Image(model))
        return board

    with running_board(DIGITS) as port:
        first = attach(5)
        try:
            with pytest.raises(BoardUnavailable, match="used by another run"):
                attach(0.1)
        finally:
            first.close()
        attach(5).close()


@pytest.mark.parametrize("transport", [(), ("--tcp", "127.0.0.1:0")], ids=["pty", "tcp"])
def test_a_board_is_one_by_all_names_of_its_port(
    tmp_path: Path, transport: tuple[str, ...]
) -> None:
    """A link to a device is that device, localhost is 127.0.0.1."""
    model, spec = load_model(DIGITS), board_spec("apollo4p_evb")
    with running_board(DIGITS, *transport) as port:
        other = port.replace("127.0.0.1", "localhost")
        if not transport:
            link = tmp_path / "ttyEVB"
            link.symlink_to(port)
            other = str(link)
        first, second = (
            AttachedBoard("sim:apollo4p_evb", spec, url, timeout_s=5, lock_timeout_s=0.1)
            for url in (port, other)
        )
        first.load(Image(model))
        with pytest.raises(BoardUnavailable, match="used by another run"):
            second.load(Image(model))
        first.give_up()
        second.load(Image(model))
        second.close()
