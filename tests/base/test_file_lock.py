"""Locks between processes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_autodeploy.base.file_lock import LockHeld, LockUnusable, locked_file, take_lock


def test_a_lock_is_held_by_one_and_then_free(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    with locked_file(path, 1), pytest.raises(LockHeld, match=re.escape(str(path))) as raised:
        take_lock(path, 0.05)
    assert raised.value.seconds == 0.05
    take_lock(path, 0.05).release()


def test_what_breaks_while_it_is_held_gives_it_back(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    with pytest.raises(ZeroDivisionError), locked_file(path, 1):
        raise ZeroDivisionError
    take_lock(path, 0.05).release()


@pytest.mark.parametrize("there", [True, False])
def test_a_symbolic_link_is_not_followed(tmp_path: Path, there: bool) -> None:
    """Nothing is emptied, and nothing made, where the link leads to."""
    precious = tmp_path / "precious"
    if there:
        precious.write_text("years of work")
    (tmp_path / "a.lock").symlink_to(precious)
    with pytest.raises(LockUnusable, match="cannot lock") as raised:
        take_lock(tmp_path / "a.lock", 1)
    assert str(tmp_path / "a.lock") in str(raised.value.hint)
    assert precious.exists() == there
    assert not there or precious.read_text() == "years of work"


def test_a_folder_in_its_place_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.lock").mkdir()
    with pytest.raises(LockUnusable, match="Is a directory"):
        take_lock(tmp_path / "a.lock", 1)
