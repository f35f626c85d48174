"""A board belongs to one run at a time, between processes too."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from pytest_autodeploy.base import lease
from pytest_autodeploy.base.errors import BoardUnavailable
from pytest_autodeploy.board.lock import BoardLocks

HOLD = """
import sys, tempfile
tempfile.tempdir = sys.argv[1]
from pytest_autodeploy.board.lock import BoardLocks
locks = BoardLocks("apollo4p_evb", 5)
locks.hold("probe 5")
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@contextmanager
def other_run(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds probe 5."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


def hold(identity: str, timeout_s: float = 5.0) -> BoardLocks:
    locks = BoardLocks("apollo4p_evb", timeout_s)
    locks.hold(identity)
    return locks


def test_a_board_of_another_process_is_refused_and_the_process_named(folder: Path) -> None:
    with other_run(folder) as process:
        with pytest.raises(BoardUnavailable) as raised:
            hold("probe 5", 0.1)
        assert f"probe 5 is used by another run: process {process.pid} (-c {folder}" in str(
            raised.value
        )
        hold("probe 6").release()


@pytest.mark.usefixtures("default_signals")
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_run_that_is_killed_gives_its_board_back(folder: Path, how: signal.Signals) -> None:
    with other_run(folder) as process:
        process.send_signal(how)
        process.wait(10)
        hold("probe 5").release()


@pytest.fixture
def by_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where there are no abstract sockets."""
    monkeypatch.setattr(lease, "sys", SimpleNamespace(platform="darwin", argv=["pytest"]))


@pytest.mark.usefixtures("by_files")
def test_elsewhere_a_lock_is_a_file(folder: Path) -> None:
    locks = hold("probe 5")
    with pytest.raises(BoardUnavailable, match="used by another run, in this same process"):
        hold("probe 5", 0.1)
    locks.release()
    hold("probe 5").release()
    assert list(folder.glob("pytest-autodeploy-*/*.lock"))


def test_one_run_may_hold_a_board_twice_and_releases_it_once() -> None:
    locks = hold("probe 5")
    locks.hold("probe 5")
    locks.release()
    locks.release()
    hold("probe 5").release()


def test_two_boards_of_one_run_cannot_be_the_same() -> None:
    locks = hold("probe 5")
    with pytest.raises(BoardUnavailable, match="used by another run, in this same process"):
        hold("probe 5", 0.1)
    locks.release()


@pytest.mark.usefixtures("by_files")
@pytest.mark.skipif(sys.platform == "win32", reason="temporary folders are per user there")
def test_a_lock_folder_of_somebody_else_is_not_trusted(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold("probe 5").release()
    monkeypatch.setattr("os.getuid", lambda: 4242)
    (folder / "pytest-autodeploy-4242").mkdir()
    with pytest.raises(BoardUnavailable, match="belongs to another user"):
        hold("probe 5")


@pytest.mark.usefixtures("by_files")
@pytest.mark.skipif(sys.platform == "win32", reason="symbolic links")
@pytest.mark.parametrize("what", ["folder", "lock"])
def test_a_symbolic_link_in_the_way_is_an_error_with_a_hint(folder: Path, what: str) -> None:
    hold("probe 5").release()
    (lock,) = folder.glob("pytest-autodeploy-*/*.lock")
    path = lock if what == "lock" else lock.parent
    path.rename(folder / "elsewhere")
    path.symlink_to(folder / "elsewhere")
    with pytest.raises(BoardUnavailable, match="apollo4p_evb: cannot lock probe 5: ") as raised:
        hold("probe 5")
    assert str(path) in str(raised.value.hint)
