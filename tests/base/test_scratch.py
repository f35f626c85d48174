"""Temporary folders, and the removal of those of runs that were killed."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pytest_autodeploy.base.scratch import BEING_MADE_S, LOCK, Scratch, sweep
from tests.helpers.support import ROOT
from tests.helpers.users import ATTACKER, needs_root

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="locks of POSIX")

HOLD = """
import sys
from pytest_autodeploy.base.scratch import Scratch
scratch = Scratch("sim")
print(scratch.path, flush=True)
sys.stdin.read()
"""
RUN_BOARD = """
import sys
from pytest_autodeploy.board.simulated import SimulatedBoard
from pytest_autodeploy.catalog.boards import board_spec
board = SimulatedBoard("sim:apollo4p_evb", board_spec("apollo4p_evb"), timeout_s=30)
board.connect()
print(board.pid, flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@contextmanager
def other_run(code: str, temporary: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Another process that works until its standard input ends, and the line that it printed."""
    environment = os.environ | {"TMPDIR": str(temporary), "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "-c", code],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout
        yield process, process.stdout.readline().strip()
        process.kill()


def test_a_folder_is_for_this_user_and_goes_when_it_is_closed(temporary: Path) -> None:
    with Scratch("sim") as scratch:
        assert scratch.path.parent == temporary
        assert stat.S_IMODE(scratch.path.stat().st_mode) == 0o700
        (scratch.path / "log.txt").touch()
    assert not scratch.path.exists()
    scratch.close()


def test_what_a_killed_run_has_left_is_removed(temporary: Path) -> None:
    with other_run(HOLD, temporary) as (process, path):
        (Path(path) / "image.tflite").write_bytes(bytes(1000))
        process.send_signal(signal.SIGKILL)
        process.wait(10)
        assert Path(path).exists()
        with Scratch("sim") as scratch:
            assert list(temporary.glob("autodeploy-*")) == [scratch.path]


def test_a_killed_run_of_a_simulated_board_leaves_nothing_to_the_next(temporary: Path) -> None:
    pytest.importorskip("tflite_micro")
    with other_run(RUN_BOARD, temporary) as (process, _):
        process.send_signal(signal.SIGKILL)
        process.wait(10)
        (left,) = temporary.glob("autodeploy-sim-*")
        sweep(temporary)
        assert not left.exists()


def test_a_folder_in_use_is_left_alone(temporary: Path) -> None:
    with other_run(HOLD, temporary) as (_, theirs), Scratch("jlink") as ours:
        sweep(temporary)
        assert Path(theirs).is_dir()
        assert ours.path.is_dir()


def test_what_is_not_of_ours_is_left_alone(temporary: Path) -> None:
    """Other names, links, folders without our lock, and one that has not got it yet."""
    for name in ("autodeploy-results", "autodeploy-sim-abcdefgh9", "sim-abcdefgh"):
        (temporary / name).mkdir()
        (temporary / name / LOCK).touch()
    (temporary / "autodeploy-sim-linked00").symlink_to(temporary / "sim-abcdefgh")
    (temporary / "autodeploy-sim-projects").mkdir()
    (temporary / "autodeploy-sim-projects" / "thesis.txt").touch()
    (temporary / "autodeploy-sim-beingnew").mkdir()
    os.utime(temporary / "autodeploy-sim-projects", (0, 0))
    before = sorted(temporary.rglob("*"))
    sweep(temporary)
    assert sorted(temporary.rglob("*")) == before


def test_an_empty_folder_that_never_got_its_lock_goes_in_time(temporary: Path) -> None:
    empty = temporary / "autodeploy-sim-abcdefgh"
    empty.mkdir()
    now = empty.stat().st_mtime
    os.utime(empty, (now, now - BEING_MADE_S - 60))
    sweep(temporary)
    assert not empty.exists()


@needs_root
def test_a_folder_of_another_user_is_left_alone(temporary: Path) -> None:
    theirs = temporary / "autodeploy-sim-abcdefgh"
    theirs.mkdir()
    (theirs / LOCK).touch()
    os.chown(theirs, ATTACKER, ATTACKER)
    sweep(temporary)
    assert theirs.exists()


def test_a_lock_that_is_a_link_is_not_followed(temporary: Path) -> None:
    folder = temporary / "autodeploy-sim-abcdefgh"
    folder.mkdir()
    (folder / LOCK).symlink_to(temporary / "somewhere")
    sweep(temporary)
    assert folder.exists()
    assert not (temporary / "somewhere").exists()


def test_sweeping_never_takes_a_folder_that_was_just_made(temporary: Path) -> None:
    done = threading.Event()

    def sweep_all_the_time() -> None:
        while not done.is_set():
            sweep(temporary)

    sweeper = threading.Thread(target=sweep_all_the_time)
    sweeper.start()
    try:
        for _ in range(500):
            with Scratch("sim") as scratch:
                (scratch.path / "log.txt").touch()
    finally:
        done.set()
        sweeper.join()
    assert list(temporary.iterdir()) == []
