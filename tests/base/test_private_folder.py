"""Folders that nobody else can write to, though their names can be guessed."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_autodeploy.base.private_folder import NotPrivate, check_trusted, private_folder
from tests.helpers.users import ATTACKER, VICTIM, everybodys_folder, needs_root, run_as

HINT = "name another folder"

IMPORTS = """
from pathlib import Path
from pytest_autodeploy.base.private_folder import NotPrivate, check_trusted, private_folder
"""
MAKE = """
try:
    print(private_folder())
except NotPrivate as error:
    print(error)
"""
CHECK = """
try:
    check_trusted(Path({folder!r}), "name another folder")
    print("trusted")
except NotPrivate as error:
    print(error)
"""


def make_as(user: int, temporary: Path) -> str:
    """The folder that a user gets, or why not."""
    return run_as(user, MAKE, folder=temporary, imports=IMPORTS).strip()


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.fixture
def everybodys() -> Iterator[Path]:
    with everybodys_folder() as folder:
        yield folder


def mode(folder: Path) -> int:
    return stat.S_IMODE(folder.stat().st_mode)


class TestPrivateFolder:
    @pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
    def test_is_closed_to_others(self, temporary: Path, umask: int) -> None:
        before = os.umask(umask)
        try:
            folder = private_folder()
        finally:
            os.umask(before)
        assert folder.parent == temporary
        assert mode(folder) == 0o700
        assert private_folder() == folder

    @pytest.mark.usefixtures("temporary")
    def test_one_of_ours_that_was_open_is_closed(self) -> None:
        private_folder().chmod(0o777)
        assert mode(private_folder()) == 0o700

    def test_a_symbolic_link_is_refused_and_not_followed(self, temporary: Path) -> None:
        folder = private_folder()
        folder.rmdir()
        (temporary / "elsewhere").mkdir(mode=0o755)
        folder.symlink_to(temporary / "elsewhere")
        with pytest.raises(NotPrivate, match="is a symbolic link") as raised:
            private_folder()
        assert raised.value.hint == f"remove {folder}, or set TMPDIR to a folder of your own"
        assert mode(temporary / "elsewhere") == 0o755

    @pytest.mark.usefixtures("temporary")
    def test_a_file_in_its_place_is_an_error(self) -> None:
        folder = private_folder()
        folder.rmdir()
        folder.touch()
        with pytest.raises(NotPrivate, match=r"cannot make .*File exists"):
            private_folder()

    @needs_root
    def test_one_that_another_user_made_first_is_refused(self, everybodys: Path) -> None:
        folder = everybodys / f"pytest-autodeploy-{VICTIM}"
        run_as(ATTACKER, f"import os; os.mkdir({str(folder)!r})", folder=everybodys)
        words = make_as(VICTIM, everybodys)
        assert f"{folder} belongs to another user (uid {ATTACKER})\n  remove {folder}" in words

    @needs_root
    def test_users_have_folders_of_their_own(self, everybodys: Path) -> None:
        made = {make_as(user, everybodys) for user in (ATTACKER, VICTIM)}
        assert made == {f"{everybodys}/pytest-autodeploy-{user}" for user in (ATTACKER, VICTIM)}


class TestTrusted:
    def test_one_of_our_own_is_and_one_that_is_not_there_yet(self, tmp_path: Path) -> None:
        check_trusted(tmp_path, HINT)
        check_trusted(tmp_path / "nothing", HINT)

    def test_a_link_of_our_own_is_followed(self, tmp_path: Path) -> None:
        (tmp_path / "big disk").mkdir()
        (tmp_path / "cache").symlink_to(tmp_path / "big disk")
        check_trusted(tmp_path / "cache", HINT)

    def test_one_that_every_user_may_write_to_is_not(self, tmp_path: Path) -> None:
        tmp_path.chmod(0o777)
        with pytest.raises(NotPrivate, match="every user may write to") as raised:
            check_trusted(tmp_path, HINT)
        assert raised.value.hint == f"chmod o-w {tmp_path}, or name another folder"

    @needs_root
    def test_one_of_another_user_is_not_but_one_of_root_is(self, everybodys: Path) -> None:
        for owner, words in ((0, "trusted"), (VICTIM, "trusted"), (ATTACKER, "another user")):
            folder = everybodys / str(owner)
            folder.mkdir()
            os.chown(folder, owner, owner)
            check = CHECK.format(folder=str(folder))
            assert words in run_as(VICTIM, check, folder=everybodys, imports=IMPORTS)
            check_trusted(folder, HINT)  # root takes them all
