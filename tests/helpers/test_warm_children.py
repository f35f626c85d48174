"""Children that are forked where the tests start many: the same as those that are started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from pytest_autodeploy.base.process import Child
from tests.helpers.warm_children import COLD

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks on Linux only")

SIM = [sys.executable, "-P", "-m", "pytest_autodeploy.sim"]


@contextmanager
def child(log: Path, *arguments: str) -> Iterator[Child]:
    """A simulated board, started as boards start it."""
    command = [*SIM, "--board", "apollo4p_evb", "--log", str(log), *arguments]
    with closing(Child(command, log=log, own_group=True)) as started:
        yield started


def is_forked(started: Child) -> bool:
    """Whether a child was forked: the system shows the command line of the server."""
    return b"warm_server" in Path(f"/proc/{started.pid}/cmdline").read_bytes()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log.txt"


@pytest.fixture
def _cold_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "elsewhere")


def test_it_ends_with_its_input_and_with_its_own_code(log: Path) -> None:
    with child(log) as started:
        assert b'"ready": true' in started.stdout.readline()
        started.stdin.close()
        end = started.end(30)
    assert (end and end.code) == 0
    with child(log, "--no-such-option") as started:
        end = started.end(30)
    assert (end and end.code) == 2
    assert "--no-such-option" in log.read_text(encoding="utf-8")


def test_what_kills_it_is_known(log: Path) -> None:
    with child(log) as started:
        started.stdout.readline()
        assert started.end(0) is None
        started.kill()
        end = started.end(30)
    assert (end and end.signal) == signal.SIGKILL.name


def test_what_ended_unseen_may_be_told_to_end(log: Path) -> None:
    with child(log) as started:
        started.stdin.close()
        assert b"ready" in started.stdout.read()  # all of it, so it has ended
        started._process.terminate()


@pytest.mark.usefixtures("_cold_environment")
def test_in_another_environment_it_is_started(log: Path) -> None:
    with child(log) as started:
        assert started.stdout.readline()
        assert not is_forked(started)


def test_where_no_process_may_start_none_is_forked(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_arguments: object, **_options: object) -> None:
        raise AssertionError("no process")

    monkeypatch.setattr("subprocess.Popen.__init__", refuse)
    monkeypatch.setattr(subprocess.Popen, "__del__", lambda _process: None)
    with pytest.raises(AssertionError, match="no process"), child(log):
        pass


@pytest.mark.skipif(COLD in os.environ, reason=f"{COLD} is set")
def test_else_it_is_forked(log: Path) -> None:
    with child(log) as started:
        assert started.stdout.readline()
        assert is_forked(started)
