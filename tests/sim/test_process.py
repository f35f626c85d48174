"""The process of the simulated board: its ports, its control channel, its end, its faults."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_autodeploy.base.errors import BoardDied, BoardRefused, BoardTimeout, LinkError
from pytest_autodeploy.rpc.client import ValidatorClient
from pytest_autodeploy.rpc.link import Link
from pytest_autodeploy.sim import __main__ as program
from pytest_autodeploy.sim.faults import Fault, parse_fault
from tests.helpers.simulated_board import PATIENCE_S, SimulatedBoard, simulated_board
from tests.helpers.tflite_builder import constant, fully_connected, single_operator, tensor

SIM = [sys.executable, "-P", "-m", "pytest_autodeploy.sim"]
X = np.arange(8, dtype=np.int8).reshape(1, 8)


def start(*arguments: str, **options: Any) -> subprocess.Popen[bytes]:
    command = [*SIM, "--board", "apollo4p_evb", *arguments]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **options)


def finished(*arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a run that ends by itself."""
    run = subprocess.run(
        [*SIM, *arguments], input=b"", capture_output=True, timeout=PATIENCE_S, check=False
    )
    return run.returncode, run.stdout.decode(), run.stderr.decode()


def configured(board: SimulatedBoard) -> SimulatedBoard:
    board.flash(fully_connected())
    board.client.configure()
    return board


def without_patience(board: SimulatedBoard) -> ValidatorClient:
    board.client.timeout_s = 0.3
    return board.client


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
def test_the_port_is_a_pseudo_terminal_that_hosts_can_close_and_open(tmp_path: Path) -> None:
    with simulated_board(tmp_path) as board:
        assert board.ready["port"].startswith("/dev/")
        board.client.close()
        again = ValidatorClient(Link(board.ready["port"], board="sim"), PATIENCE_S)
        assert again.identify().board == "apollo4p_evb"
        again.close()


def test_one_tcp_client_is_served_after_the_other(tmp_path: Path) -> None:
    with simulated_board(tmp_path, "--tcp", "127.0.0.1:0") as board:
        before = configured(board).run(X)[0]
        board.client.close()
        board.client = ValidatorClient(Link(board.ready["port"], board="sim"), PATIENCE_S)
        np.testing.assert_array_equal(board.run(X)[0], before)


def test_a_tcp_client_that_leaves_within_a_frame_harms_nobody(tmp_path: Path) -> None:
    with simulated_board(tmp_path, "--tcp", "127.0.0.1:0") as board:
        board.client.close()
        host, port = board.ready["port"].removeprefix("socket://").split(":")
        with socket.create_connection((host, int(port))) as rude:
            rude.sendall(bytes(5))
        board.client = ValidatorClient(Link(board.ready["port"], board="sim"), PATIENCE_S)
        assert board.client.identify().board == "apollo4p_evb"


def test_a_large_tensor_passes_in_both_directions(tmp_path: Path) -> None:
    x = np.random.default_rng(0).integers(-128, 128, (1, 300_000)).astype(np.int8)
    y, shape = tensor((1, 100, 3000), "int8"), [1, 100, 3000]
    inputs = [tensor(x.shape, "int8"), constant(shape)]
    model = single_operator("RESHAPE", inputs, [y], options={"new_shape": shape})
    with simulated_board(tmp_path, board="apollo510_evb") as board:
        board.flash(model)
        board.client.configure()
        assert board.run(x)[0].tobytes() == x.tobytes()


def test_the_link_can_be_slow(tmp_path: Path) -> None:
    with simulated_board(tmp_path, "--link-latency-ms", "40") as board:
        began = time.monotonic()
        board.client.identify()
        assert time.monotonic() - began >= 0.08


def test_the_model_can_be_flashed_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "m.tflite").write_bytes(fully_connected())
    arguments = ["--model", str(tmp_path / "m.tflite"), "--arena-kb", "20"]
    with simulated_board(tmp_path, *arguments) as board:
        assert board.client.configure().arena_bytes == 20 * 1024


def test_a_flash_of_a_file_that_is_missing_is_refused(tmp_path: Path) -> None:
    with simulated_board(tmp_path) as board:
        answer = board.control(op="flash", model=str(tmp_path / "none.tflite"))
    assert answer["ok"] is False
    assert "none.tflite" in answer["error"]


@pytest.mark.parametrize("line", [{"op": "dance"}, {"op": "flash"}, {"op": "flash", "model": 7}])
def test_an_order_that_makes_no_sense_is_answered(tmp_path: Path, line: dict[str, Any]) -> None:
    with simulated_board(tmp_path) as board:
        assert board.control(**line)["ok"] is False
        assert board.control(op="reset") == {"ok": True}


def test_the_end_of_standard_input_is_the_end_of_the_board() -> None:
    process = start()
    out, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0
    assert json.loads(out)["pid"] == process.pid


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signal")
@pytest.mark.usefixtures("default_signals")
def test_sigterm_ends_the_board_at_once() -> None:
    process = start()
    assert process.stdout is not None
    process.stdout.readline()
    process.terminate()
    process.communicate(timeout=PATIENCE_S)
    assert process.returncode == -signal.SIGTERM


def test_a_host_that_is_killed_during_a_call_leaves_no_orphan(tmp_path: Path) -> None:
    # The board inherits the host's output, which only ends when both have ended.
    host = tmp_path / "host.py"
    host.write_text(
        "import json, subprocess, sys\n"
        "from pytest_autodeploy.rpc.client import ValidatorClient\n"
        "from pytest_autodeploy.rpc.link import Link\n"
        f"sim = subprocess.Popen({SIM!r} + ['--board', 'apollo4p_evb', '--fault', 'hang@invoke',\n"
        "    '--tcp', '127.0.0.1:' + sys.argv[1]], stdin=subprocess.PIPE)\n"
        "sys.stdin.readline()\n"
        "client = ValidatorClient(Link('socket://127.0.0.1:' + sys.argv[1], board='sim'))\n"
        "client.identify()\n"
        "print('calling', flush=True)\n"
        "client.invoke(timeout_s=1000)\n"
    )
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, str(host), str(port)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdin is not None
    assert json.loads(process.stdout.readline())["ready"] is True
    process.stdin.write(b"go\n")
    process.stdin.flush()
    assert process.stdout.readline() == b"calling\n"

    process.kill()

    out, _ = process.communicate(timeout=PATIENCE_S)
    assert out == b""


def test_for_a_user_who_plays_with_it_it_prints_words() -> None:
    process = start("--serve")
    assert process.stdout is not None
    assert b"apollo4p_evb (simulated) on /dev/" in process.stdout.readline()
    process.kill()
    process.communicate(timeout=PATIENCE_S)


def test_an_unknown_board_is_refused_before_anything_starts() -> None:
    code, out, _ = finished("--board", "apolo4p_evb")
    assert code == program.NOT_READY
    assert "Did you mean apollo4p_evb" in json.loads(out)["error"]


def test_a_model_that_does_not_fit_is_refused_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "m.tflite").write_bytes(bytes(3_000_000))
    code, out, _ = finished("--board", "apollo4p_evb", "--model", str(tmp_path / "m.tflite"))
    assert code == program.NOT_READY
    assert "does not fit" in json.loads(out)["error"]


def test_without_tflm_it_says_which_extra_is_needed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "tflite_micro", None)

    code = program.main(["--board", "apollo4p_evb"])

    assert code == program.MISSING_EXTRA
    answer = json.loads(capsys.readouterr().out)
    assert answer["ready"] is False
    assert "'sim'" in answer["error"]


@pytest.mark.skipif(sys.platform == "win32", reason="exit codes of signals")
def test_tflm_dying_of_a_model_ends_the_process_with_its_signal(tmp_path: Path) -> None:
    far_away = single_operator(
        "SLICE", [tensor((4,)), constant([2**28]), constant([2])], [tensor((2,))]
    )
    with simulated_board(tmp_path) as board:
        board.flash(far_away)
        board.client.configure()
        without_patience(board)
        with pytest.raises((BoardDied, BoardTimeout)):
            board.client.invoke()
        assert "SIGSEGV" in str(board.process.death())


def test_the_log_file_holds_what_tflm_said(tmp_path: Path) -> None:
    with simulated_board(tmp_path) as board:
        board.flash(fully_connected(), arena_bytes=512)
        with pytest.raises(BoardRefused):
            board.client.configure()
        assert "Failed starting model allocation" in board.process.last_line()


@pytest.mark.skipif(sys.platform == "win32", reason="exit codes of signals")
def test_a_board_can_die_in_a_call(tmp_path: Path) -> None:
    with simulated_board(tmp_path, "--fault", "die@configure") as board:
        board.flash(fully_connected())
        without_patience(board)
        with pytest.raises((BoardDied, BoardTimeout), match="configure"):
            board.client.configure()
        assert "SIGSEGV" in str(board.process.death())


def test_a_board_can_hang_in_a_call(tmp_path: Path) -> None:
    with simulated_board(tmp_path, "--fault", "hang@invoke") as board:
        configured(board)
        with pytest.raises(BoardTimeout, match="invoke"):
            board.client.invoke(timeout_s=0.1)
        assert board.process.death(wait_s=0) is None


def test_a_fault_can_be_that_of_the_second_call(tmp_path: Path) -> None:
    with simulated_board(tmp_path, "--fault", "hang@invoke#2") as board:
        configured(board)
        board.client.invoke()
        with pytest.raises(BoardTimeout, match="invoke"):
            board.client.invoke(timeout_s=0.1)


def test_a_board_can_answer_with_garbage(tmp_path: Path) -> None:
    with simulated_board(tmp_path, "--fault", "garbage@readOutput") as board:
        configured(board).client.invoke()
        without_patience(board)
        with pytest.raises((LinkError, BoardTimeout), match="read_output"):
            board.client.read_output(0, 4)


def test_a_board_can_give_wrong_outputs(tmp_path: Path) -> None:
    x, y = tensor((1, 8), "int8"), tensor((8, 1), "int8")
    copy = single_operator("RESHAPE", [x, constant([8, 1])], [y], options={"new_shape": [8, 1]})
    with simulated_board(tmp_path, "--fault", "corrupt-output") as board:
        board.flash(copy)
        board.client.configure()
        assert (board.run(X)[0].ravel() != X.ravel()).all()


def test_a_board_can_run_another_model_than_was_flashed(tmp_path: Path) -> None:
    with simulated_board(tmp_path, "--fault", "wrong-model") as board:
        sha256 = board.flash(fully_connected())["sha256"]
        assert board.client.identify().model_sha256.hex() != sha256


@pytest.mark.parametrize("text", ["die", "die@dance", "explode@invoke", "die@invoke#0"])
def test_a_fault_that_does_not_exist_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=f"no fault '{text}'"):
        parse_fault(text)


def test_calls_of_faults_are_named_as_in_the_interface_file() -> None:
    assert parse_fault("die@readOutput#3") == Fault("die", "read_output", 3)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--fault", "die"], "no fault 'die'; die@CALL: end like a crash"),
        (["--tcp", "localhost"], "'localhost' is not HOST:PORT"),
    ],
)
def test_a_wrong_option_is_explained(arguments: list[str], words: str) -> None:
    code, _, err = finished("--board", "apollo4p_evb", *arguments)
    assert code == 2
    assert words in err


def test_help_documents_the_faults() -> None:
    code, out, _ = finished("--help")
    assert code == 0
    assert "for testing" in out
    assert "wrong-model" in out


def test_no_temporary_file_is_left(tmp_path: Path) -> None:
    process = start(env=os.environ | {"TMPDIR": str(tmp_path)})
    process.communicate(timeout=PATIENCE_S)
    assert list(tmp_path.iterdir()) == []
