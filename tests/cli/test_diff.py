"""``autodeploy diff``: a board beside the PC, and where the two part."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pytest_autodeploy.board.process_board import ProcessBoard
from pytest_autodeploy.cli.bench import open_bench
from pytest_autodeploy.cli.settings import settings_of
from tests.helpers.cli_support import PROCESS, run, run_json
from tests.helpers.fake_tools import ends
from tests.helpers.simulated_board import simulated_board
from tests.helpers.support import DIGITS
from tests.helpers.tflite_builder import single_operator, tensor

SIM = ("--evb", "sim:apollo4p_evb")


def test_a_board_that_agrees_is_compared_operator_by_operator() -> None:
    result = run("diff", DIGITS, *SIM, "--runs", "2")

    assert result.exit_code == 0, result.output
    first, _, table = result.stdout.partition("\n\n")
    assert first.startswith(
        "digits_cnn on sim:apollo4p_evb (modelled): outputs agree with the PC's"
    )
    assert "6 SOFTMAX" in table


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
def test_a_board_with_a_wrong_kernel_is_found_with_its_operator(tmp_path: Path) -> None:
    arguments = ("--model", str(DIGITS), "--fault", "corrupt-op:2")
    with simulated_board(tmp_path, *arguments) as board:
        port = board.ready["port"]
        board.client.close()
        result = run("diff", DIGITS, *SIM, "--port", port, "--runs", "2")
        code, document = run_json("diff", DIGITS, *SIM, "--evb-port", port, "--tflite-runs", "2")

    assert (result.exit_code, code) == (1, 1), result.output
    assert "outputs differ from the PC's" in result.stdout
    assert "where: it starts in operator 2 CONV_2D" in result.stdout
    assert document["agrees"] is False
    assert document["board"] == {"id": "sim:apollo4p_evb", "source": "modelled"}
    assert document["explanation"]["cause"] == "board"
    assert document["explanation"]["operator"]["position"] == 2
    assert document["agreement"]["passed"] is False


def test_the_tolerance_is_given_in_steps_or_as_in_pytest() -> None:
    assert (
        run("diff", DIGITS, *SIM, "--runs", "1", "--lsb", "0", "--reference", "ref").exit_code == 0
    )
    assert run("diff", DIGITS, *SIM, "--runs", "1", "--tolerance", "atol=0.5").exit_code == 0
    both = run("diff", DIGITS, *SIM, "--lsb", "1", "--tolerance", "lsb=1")
    assert (both.exit_code, "give one of them" in both.stderr) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--evb", "apolo4p_evb"], "Did you mean apollo4p_evb?"),
        ([*SIM, "--runs", "0"], "--tflite-runs: '0' is not a positive whole number"),
        ([*SIM, "--reference", "best"], "'best' is not one of auto, ref"),
        ([*SIM, "--inputs", "nowhere.npy"], "no such file: nowhere.npy"),
        ([*SIM, "--tolerance", "steps=1"], "--tflite-tolerance"),
    ],
)
def test_a_wrong_option_is_explained_before_a_board_is_touched(
    arguments: list[str], words: str
) -> None:
    result = run("diff", DIGITS, *arguments)

    assert result.exit_code == 2, result.output
    assert words in result.stderr


def test_a_board_that_is_not_there_is_one_message() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        nobody = f"socket://127.0.0.1:{server.getsockname()[1]}"

    result = run("diff", DIGITS, *SIM, "--port", nobody)

    assert result.exit_code == 1
    assert result.stderr.startswith("Error: sim:apollo4p_evb: ")
    assert "Traceback" not in result.stderr


def test_a_model_that_no_board_runs_is_refused(tmp_path: Path) -> None:
    content = single_operator("ATAN2", [tensor((4,)), tensor((4,))], [tensor((4,))])
    (tmp_path / "m.tflite").write_bytes(content)

    code, document = run_json("diff", tmp_path / "m.tflite", *SIM)

    assert code == 1
    assert "TFLM has no kernel for ATAN2" in document["error"]


def test_a_bench_leaves_no_process_behind_when_it_is_interrupted() -> None:
    pids: list[int] = []

    def interrupted() -> None:
        settings = settings_of({"tflite": str(DIGITS), "evb": "sim:apollo4p_evb"})
        with open_bench(settings, lambda *_: None) as bench:
            bench.session.run()
            assert isinstance(bench.session.board, ProcessBoard)
            assert bench.session.board.pid is not None
            pids.append(bench.session.board.pid)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()

    assert ends(pids[0])


@pytest.mark.usefixtures("default_signals")
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM")
def test_sigterm_leaves_no_folder_behind(tmp_path: Path) -> None:
    command = [*PROCESS, "diff", str(DIGITS), *SIM, "--runs", "100000"]
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE) as process:
        deadline = time.monotonic() + 60
        while not any(tmp_path.glob("autodeploy-*/*")) and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)

    assert process.returncode == 1
    assert list(tmp_path.glob("autodeploy-*")) == []
