"""The rig of a run: the file that its settings name, which is none of those that are tested."""

from __future__ import annotations

from pathlib import Path

from pytest_autodeploy.catalog.kinds import AT, BY_NAME, kind_of
from pytest_autodeploy.catalog.rig import Rig, RigError, UnknownRigBoard, read_rig

_OF_PROJECTS = (
    "pyproject.toml",
    "pytest.toml",
    "pytest.ini",
    "tox.ini",
    "setup.cfg",
    "conftest.py",
)


def load_rig(path: Path, start: Path, rootdir: Path, origin: str) -> Rig:
    """The rig of a file. Raises RigError, also for one that the tests come with: it has commands.

    ``start`` is the folder that pytest was started in, ``rootdir`` its root folder, ``origin`` the
    option that named the file.
    """
    for folder in _tested(start, rootdir):
        if path.resolve().is_relative_to(folder):
            raise RigError(
                f"{origin}: {path} is a part of what is tested, {folder}, which must not say what "
                "commands are run",
                hint="move it, such as to ~/.config/autodeploy/rig.toml",
            )
    return read_rig(path)


def id_of(typed: str, rig: Rig | None) -> str:
    """The id of a board that a user typed; one that only a rig has must be in it.

    Raises UnknownRigBoard; RigError without a rig.
    """
    kind = None if typed.startswith(BY_NAME) else kind_of(typed)
    named = kind is None or (kind.attachable and AT in typed)
    if rig is None:
        if named:
            raise RigError(f"--evb {typed} needs a rig file", hint="give it by --evb-rig FILE")
        return typed
    board_id = rig.named(typed.removeprefix(BY_NAME)).id if kind is None else typed
    if named:
        rig.named(board_id.partition(AT)[2])
    if rig.of(board_id) or not (named or (kind and kind.attachable and kind.is_hardware)):
        return board_id
    types = ", ".join(dict.fromkeys(board.type for board in rig.boards))
    raise UnknownRigBoard(f"no {board_id} in {rig.path}", hint=f"It has {types}.")


def _tested(start: Path, rootdir: Path) -> list[Path]:
    """The folders that are tested, and the repositories that they are in.

    pytest takes ``--evb-rig /etc/rig.toml`` for an argument, and a folder above both for its root:
    such a one counts only if it looks like a project. A folder that has the user's own files below
    it, as the home folder, does not.
    """
    try:
        home = Path.home().resolve()
    except RuntimeError:  # a user without a home
        home = Path("/nonexistent")
    begin, root = start.resolve(), rootdir.resolve()
    parents = (begin, *begin.parents, root, *root.parents)
    checkouts = [folder for folder in parents if (folder / ".git").exists()]
    project = root.is_relative_to(begin) or any((root / name).exists() for name in _OF_PROJECTS)
    folders = [begin, *checkouts, *([root] if project else [])]
    return [folder for folder in dict.fromkeys(folders) if not home.is_relative_to(folder)]
