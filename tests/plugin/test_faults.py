"""Boards that break in a run: a clear result, a fresh board for the next test, nothing left."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from tests.helpers.broken_boards import break_board
from tests.helpers.support import DIGITS

T = TypeVar("T")

HEAD = """
import os, signal, threading
import pytest
pytestmark = pytest.mark.tflite("digits_cnn.tflite")
"""


def test_a_board_that_dies_names_call_and_signal(pytester: pytest.Pytester, digits: Path) -> None:
    break_board(pytester, "die@invoke")
    result = pytester.runpytest("--tflite", digits.name)
    result.assert_outcomes(failed=2, errors=3)
    result.stdout.fnmatch_lines(["board broke: *: infer: its process died of SIGSEGV after * s"])
    result.stdout.no_fnmatch_line("*Traceback*")


def test_the_test_after_a_fault_gets_a_fresh_board(pytester: pytest.Pytester, digits: Path) -> None:
    pytester.makepyfile(
        test_it=HEAD
        + """
def test_dies(model_session, evb):
    os.kill(evb.pid, signal.SIGKILL)
    model_session.run()

def test_lives(model_session):
    model_session.run()
"""
    )
    result = pytester.runpytest("test_it.py")
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(
        ["*BoardDied: sim:apollo4p_evb: *: its process died of SIGKILL after * s"]
    )


def test_a_board_killed_in_the_middle_of_a_run_fails_that_test_alone(
    pytester: pytest.Pytester, digits: Path
) -> None:
    pytester.makepyfile(
        test_it=HEAD
        + """
def test_dies(model_session, evb):
    model_session.run(inputs=1)
    threading.Timer(0.2, os.kill, (evb.pid, signal.SIGKILL)).start()
    model_session.run(inputs=20000)

def test_lives(model_session):
    model_session.run()
"""
    )
    result = pytester.runpytest("test_it.py")
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(["*its process died of SIGKILL*"])


def test_a_silent_board_times_out_and_its_other_tests_are_errors_of_one_line(
    pytester: pytest.Pytester, digits: Path
) -> None:
    break_board(pytester, "hang@invoke")
    result = pytester.runpytest("--tflite", digits.name, "--evb-timeout", "3")
    result.assert_outcomes(failed=2, errors=3)
    result.stdout.fnmatch_lines(
        ["board broke: infer*(see autodeploy::test_outputs_agree*", "*infer: no answer * after * s"]
    )


def test_a_timeout_of_pytest_in_a_call_is_of_that_test_alone(pytester: pytest.Pytester) -> None:
    shutil.copy(DIGITS, pytester.path)
    pytester.makepyfile(
        test_it=HEAD
        + """
@pytest.mark.timeout(1, method="signal", func_only=True)
def test_too_long(model_session):
    model_session.latency(runs=10_000_000)

def test_after(model_session):
    model_session.run()
"""
    )
    result = pytester.runpytest_subprocess("test_it.py", "--reruns=0")
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(["*Timeout (>1.0s) from pytest-timeout*"])
    result.stdout.no_fnmatch_line("*board broke*")


def test_a_board_with_other_firmware_never_yields_numbers(
    pytester: pytest.Pytester, digits: Path
) -> None:
    break_board(pytester, "wrong-model")
    result = pytester.runpytest("--tflite", digits.name)
    result.assert_outcomes(errors=5)
    result.stdout.fnmatch_lines(["board broke: sim:*: it runs a model of SHA-256 *not digits_cnn*"])


def test_a_run_on_a_board_with_faults_says_that_they_are_on_purpose(
    pytester: pytest.Pytester, digits: Path
) -> None:
    break_board(pytester, "corrupt-op:0")
    arguments = ["--tflite", digits.name, "--junit-xml", "junit.xml", "-k", "outputs_agree"]
    result = pytester.runpytest(*arguments)
    result.assert_outcomes(failed=1, deselected=4)
    result.stdout.fnmatch_lines(["*tflm *, injected faults: corrupt-op:0*"])
    assert "injected faults: corrupt-op:0" in (pytester.path / "junit.xml").read_text()


def test_a_garbled_reply_is_asked_for_again(pytester: pytest.Pytester, digits: Path) -> None:
    break_board(pytester, "garbage@infer#2")
    result = pytester.runpytest("--tflite", digits.name, "--evb-timeout", "15")
    result.assert_outcomes(passed=5)


def test_a_missing_extra_names_the_command_that_installs_it(
    pytester: pytest.Pytester, digits: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    result = pytester.runpytest_inprocess("--tflite", digits.name)
    result.assert_outcomes(errors=1, skipped=4)
    result.stdout.fnmatch_lines(
        [
            "the simulated board needs the extra 'sim'",
            "  pip install 'pytest-autodeploy[[]sim]'",
        ]
    )


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="finds child processes in /proc")
@pytest.mark.usefixtures("default_signals")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_interrupted_run_leaves_no_process(
    pytester: pytest.Pytester, digits: Path, how: signal.Signals
) -> None:
    temporary = pytester.mkdir("temporary")
    run = subprocess.Popen(
        [sys.executable, "-m", "pytest", "--tflite", digits.name, "--tflite-runs", "100000"],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=os.environ | {"TMPDIR": str(temporary)},
    )
    try:
        children = wait_for(lambda: two_children(run.pid))
        wait_for(lambda: has_port(children))
        os.kill(run.pid, how)
        output, _ = run.communicate(timeout=120)
    finally:
        run.kill()
    if how is not signal.SIGKILL:
        # Python (3.11) ends itself by SIGINT, after pytest has handled the KeyboardInterrupt, when
        # it came within an exec() of a string: dataclasses are made so, and modules load late.
        assert run.returncode in (pytest.ExitCode.INTERRUPTED, -signal.SIGINT)
        assert "KeyboardInterrupt" in output
        assert [path.name for path in temporary.glob("autodeploy-*")] == []
    wait_for(lambda: not any(Path(f"/proc/{child}").exists() for child in children))


def two_children(pid: int) -> list[int]:
    """The simulated board and the PC reference of a run, once both are there."""
    text = "".join(path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/children"))
    children = sorted(map(int, text.split()))
    return children if len(children) >= 2 else []


def has_port(children: list[int]) -> bool:
    """Whether one of the processes has opened a pty."""
    for link in [link for child in children for link in Path(f"/proc/{child}/fd").glob("*")]:
        with contextlib.suppress(FileNotFoundError):  # closed meanwhile
            if str(link.readlink()).startswith("/dev/pt"):
                return True
    return False


def wait_for(condition: Callable[[], T], timeout_s: float = 60.0) -> T:
    """Poll until the condition holds."""
    until = time.monotonic() + timeout_s
    while not (value := condition()):
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.01)
    return value
