"""Child processes: real ones that end, hang, die, and leave children of their own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from pytest_autodeploy.base.process import Child, End, run_tool

PATIENCE_S = 30.0
POSIX = pytest.mark.skipif(os.name != "posix", reason="process groups and signals")

PARENT_OF_SLEEPER = """
import subprocess, sys, time
held = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print(held.pid, flush=True)
"""
"""A program that starts another one, which keeps its standard output open, and prints its id."""

ECHO = "import sys\nfor line in sys.stdin: print(line, end='', flush=True)"


def python(code: str) -> list[str]:
    """The command that runs a program of Python."""
    return [sys.executable, "-P", "-c", code]


def wait_until_gone(pid: int) -> None:
    """Return when a process has ended; it may be a zombie that nobody waits for."""
    gone = threading.Event()
    for _ in range(1000):
        try:
            os.kill(pid, 0)
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return
        except OSError:
            return
        gone.wait(0.03)
    pytest.fail(f"process {pid} still runs")


def test_a_program_runs_to_its_end_in_its_folder(tmp_path: Path) -> None:
    done = run_tool(
        python("import os, sys; print(os.getcwd(), os.environ['X']); sys.stderr.write('oh')"),
        timeout_s=PATIENCE_S,
        folder=tmp_path,
        environment=os.environ | {"X": "from outside"},
    )
    assert done.code == 0
    assert done.output.splitlines() == [f"{tmp_path} from outside", "oh"]
    assert done.how == "exited with code 0"


def test_a_program_that_nobody_wants_any_more_is_ended_early() -> None:
    asked: list[float] = []

    def abandoned() -> bool:
        asked.append(time.monotonic())
        return len(asked) > 2

    done = run_tool(python("import time; time.sleep(600)"), timeout_s=500, abandoned=abandoned)
    assert done.code is None
    wanted = run_tool(python("print(1)"), timeout_s=PATIENCE_S, abandoned=lambda: False)
    assert (wanted.code, wanted.output.strip()) == (0, "1")
    late = run_tool(python("import time; time.sleep(600)"), timeout_s=0.3, abandoned=lambda: False)
    assert late.code is None


def test_errors_can_be_kept_apart() -> None:
    code = "import sys; print('result'); sys.stderr.write('oh')"
    done = run_tool(python(code), timeout_s=PATIENCE_S, apart=True)
    assert (done.output.strip(), done.errors) == ("result", "oh")


def test_a_program_gets_no_input() -> None:
    done = run_tool(python("import sys; print(repr(sys.stdin.read()))"), timeout_s=PATIENCE_S)
    assert done.output.strip() == "''"


def test_a_program_that_cannot_be_started_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        run_tool([str(tmp_path / "none")], timeout_s=PATIENCE_S)


@POSIX
@pytest.mark.parametrize("then", ["time.sleep(600)", "pass"], ids=["hangs", "ends"])
def test_nothing_of_a_program_outlives_it(then: str) -> None:
    hangs = then != "pass"
    done = run_tool(python(PARENT_OF_SLEEPER + then), timeout_s=3 if hangs else PATIENCE_S)
    assert done.code == (None if hangs else 0)
    assert done.how == ("did not finish" if hangs else "exited with code 0")
    wait_until_gone(int(done.output))


@POSIX
@pytest.mark.parametrize(
    ("number", "name", "crashed"),
    [
        (signal.SIGSEGV, "SIGSEGV", True),
        (signal.SIGKILL, "SIGKILL", False),
        (signal.SIGTERM, "SIGTERM", False),
    ],
)
def test_the_signal_that_a_program_died_of_has_its_name(
    number: signal.Signals, name: str, crashed: bool
) -> None:
    done = run_tool(python(f"import os; os.kill(os.getpid(), {int(number)})"), timeout_s=PATIENCE_S)
    assert (done.signal, done.how, done.crashed) == (name, f"died of {name}", crashed)


def test_a_signal_without_a_name_and_other_ends_have_words() -> None:
    assert End(-200).how == "died of signal 200"
    assert not End(-200).crashed
    assert End(3).crashed
    assert not End(None).crashed
    assert End(3).signal == ""


def test_a_child_is_talked_to_and_its_last_words_are_kept(tmp_path: Path) -> None:
    code = "import sys\nprint(input(), flush=True)\nsys.stderr.write('it broke\\nINFO: chatter\\n')"
    for log in (None, tmp_path / "log.txt"):
        child = Child(python(code), log=log, own_group=True)
        child.stdin.write(b"hello\n")
        child.stdin.flush()
        assert child.stdout.readline().strip() == b"hello"
        end = child.end(PATIENCE_S)
        assert end == End(0)
        assert child.ending(end) == "exited with code 0; the last line of its output: it broke"
        child.close()
        child.close()


def test_a_child_that_heeds_the_end_of_its_input_ends_politely() -> None:
    child = Child(python(f"{ECHO}\nraise SystemExit(7)"), own_group=False)
    child.stdin.close()
    assert child.end(PATIENCE_S) == End(7)
    child.stop(PATIENCE_S)
    child.close()


@POSIX
def test_a_child_that_ignores_everything_is_ended_by_force_with_what_it_started() -> None:
    stubborn = (
        "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)"
        f"{PARENT_OF_SLEEPER}time.sleep(600)"
    )
    child = Child(python(stubborn), own_group=True)
    sleeper = int(child.stdout.readline())
    assert child.end(0) is None
    child.stop(0.2)
    assert child.end(0) == End(-signal.SIGKILL)
    wait_until_gone(sleeper)
    child.close()


@POSIX
def test_what_a_dead_child_started_ends_when_its_death_is_seen() -> None:
    child = Child(python(f"{PARENT_OF_SLEEPER}import os; os.abort()"), own_group=True)
    sleeper = int(child.stdout.readline())
    end = child.end(PATIENCE_S)
    assert end is not None
    assert end.how == "died of SIGABRT"
    wait_until_gone(sleeper)
    child.close()


@POSIX
def test_a_child_ends_with_its_object() -> None:
    child = Child(python(ECHO), own_group=True)
    pid = child.pid
    del child
    wait_until_gone(pid)


@POSIX
def test_a_child_that_outlives_its_object_ends_by_itself_once_its_input_ends(
    tmp_path: Path,
) -> None:
    did = tmp_path / "did"
    code = f"import sys, time; sys.stdin.read(); time.sleep(0.3); open({str(did)!r}, 'w')"
    child = Child(python(code), own_group=True, outlives=True)
    pid = child.pid
    del child
    wait_until_gone(pid)
    assert did.exists()


@POSIX
def test_a_child_in_its_own_group_does_not_get_the_ctrl_c_of_its_parent() -> None:
    groups = {}
    for own in (True, False):
        child = Child(python(ECHO), own_group=own)
        groups[own] = os.getpgid(child.pid)
        child.close()
    assert groups[False] == os.getpgrp() != groups[True]


@pytest.mark.skipif(sys.platform != "linux", reason="the death signal is Linux's")
def test_a_bound_program_is_killed_with_its_parent() -> None:
    guard = subprocess.Popen(
        python(
            "import sys, time\nfrom pytest_autodeploy.base.process import start_bound\n"
            "held = start_bound([sys.executable, '-c', 'import time; time.sleep(600)'], [])\n"
            "print(held.pid, flush=True)\ntime.sleep(600)"
        ),
        stdout=subprocess.PIPE,
    )
    with guard:
        assert guard.stdout is not None
        bound = int(guard.stdout.readline())
        guard.kill()
        wait_until_gone(bound)
