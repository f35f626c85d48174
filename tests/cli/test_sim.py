"""``autodeploy sim``: a simulated board in the foreground, for a person or a program."""

from __future__ import annotations

import json
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pytest_autodeploy.rpc.client import ValidatorClient
from pytest_autodeploy.rpc.link import Link
from tests.helpers.cli_support import PROCESS, run, run_json
from tests.helpers.simulated_board import PATIENCE_S
from tests.helpers.support import DIGITS
from tests.helpers.tflite_builder import single_operator, tensor

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C and pseudo-terminals")


@contextmanager
def started(*arguments: str | Path) -> Iterator[subprocess.Popen[str]]:
    """The command as a process without a terminal."""
    process = subprocess.Popen(
        [*PROCESS, "sim", *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate(timeout=PATIENCE_S)


def lines(process: subprocess.Popen[str], count: int) -> list[str]:
    assert process.stdout is not None
    return [process.stdout.readline().rstrip("\n") for _ in range(count)]


def test_it_says_where_it_is_and_how_pytest_attaches() -> None:
    with started("apollo510_evb", DIGITS) as process:
        where, what, command = lines(process, 3)

    assert where.startswith("apollo510_evb (simulated) on /dev/")
    assert what == "It runs digits_cnn.tflite. In another terminal:"
    words = shlex.split(command)
    assert words[:3] == ["pytest", "autodeploy", f"--tflite={DIGITS}"]
    assert words[3:5] == ["--evb", "sim:apollo510_evb"]
    assert words[5].startswith("--evb-port=/dev/")


def test_pytest_attaches_by_the_very_words_that_it_prints(tmp_path: Path) -> None:
    with started("apollo4p_evb", DIGITS) as process:
        command = shlex.split(lines(process, 3)[2])
        done = subprocess.run(
            [sys.executable, "-m", *command, "-p", "no:cacheprovider"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    assert done.returncode == 0, done.stdout


def test_the_board_may_be_named_as_in_pytest_and_run_no_model() -> None:
    with started("sim:apollo4p_evb") as process:
        where, what = lines(process, 2)

    assert where.startswith("apollo4p_evb (simulated) on /dev/")
    assert what == "It runs no model: start it with one to attach pytest to it."


def test_with_json_a_program_reads_one_line() -> None:
    with started("apollo4p_evb", DIGITS, "--arena-kb", "20", "--json") as process:
        ready = json.loads(lines(process, 1)[0])
        client = ValidatorClient(Link(ready["port"], board="sim"), PATIENCE_S)
        arena = client.configure().arena_bytes
        client.close()

    assert (ready["ready"], ready["pid"], arena) == (True, process.pid, 20 * 1024)


def test_tcp_serves_other_machines() -> None:
    with started("apollo4p_evb", "--tcp", "127.0.0.1:0") as process:
        (where,) = lines(process, 1)

    assert "on socket://127.0.0.1:" in where


@pytest.mark.usefixtures("default_signals")
def test_ctrl_c_ends_it_without_a_word() -> None:
    with started("apollo4p_evb") as process:
        lines(process, 2)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE_S)

    assert (process.returncode, out, err) == (0, "", "")


def test_an_error_is_words_for_a_person_and_an_object_for_a_program() -> None:
    kinds = []
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        for more in ([], ["--json"]):
            command = [*PROCESS, "sim", "apollo4p_evb", "--tcp", address, *more]
            done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
            kinds.append((done.returncode, done.stdout, done.stderr))

    (code, out, err), (json_code, json_out, _) = kinds
    assert (code, json_code, out) == (1, 1, "")
    assert err.startswith("Error: ")
    assert json.loads(json_out)["ready"] is False


def test_a_model_that_no_board_runs_is_refused_at_once(tmp_path: Path) -> None:
    content = single_operator("ATAN2", [tensor((4,)), tensor((4,))], [tensor((4,))])
    (tmp_path / "m.tflite").write_bytes(content)

    code, document = run_json("sim", "apollo4p_evb", tmp_path / "m.tflite")

    assert code == 1
    assert "TFLM has no kernel for ATAN2" in document["error"]


def test_a_model_that_is_not_there_is_a_usage_error() -> None:
    result = run("sim", "apollo4p_evb", "nowhere.tflite")

    assert result.exit_code == 2
    assert "'nowhere.tflite' does not exist" in result.stderr


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tflite_micro", None)

    result = run("sim", "apollo4p_evb")

    assert result.exit_code == 1
    assert "pip install 'pytest-autodeploy[sim]'" in result.stderr
