"""The folder of baselines: where a file is, reading it, and replacing it in one step."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from pytest_autodeploy.base.errors import ResultsError
from pytest_autodeploy.base.file_lock import LockHeld, LockUnusable, locked_file
from pytest_autodeploy.base.files import temporary_prefix, write_bytes
from pytest_autodeploy.base.names import file_name
from pytest_autodeploy.base.private_folder import NotPrivate, private_folder
from pytest_autodeploy.baseline.errors import BaselineError
from pytest_autodeploy.baseline.format import Baseline
from pytest_autodeploy.baseline.text import baseline_text, parse_baseline
from pytest_autodeploy.settings.option import plain_name
from pytest_autodeploy.settings.settings import named_folder

LOCK_TIMEOUT_S = 30.0


def baseline_path(folder: Path, model_id: str, board: str, kind: str) -> Path:
    """The file of a model on a board type, such as ``kws/apollo4p_evb.simulated.json``."""
    return folder / file_name(model_id) / f"{file_name(board)}.{file_name(kind)}.json"


def belongs_elsewhere(baseline: Baseline, model_file: str, root: Path) -> bool:
    """Whether a baseline is that of another model of the same name, which is still there."""
    # os.path.exists is False for a name that no system takes; Path.exists raises for some.
    return baseline.file != model_file and os.path.exists(root / baseline.file)  # noqa: PTH110


def read_baseline(path: Path, name: str | None = None) -> Baseline | None:
    """The baseline of a file, None where there is none. Raises BaselineError.

    ``name`` is what errors call the file.
    """
    shown = name or str(path)
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except UnicodeDecodeError:
        raise BaselineError(
            f"{shown} is damaged: not UTF-8 text",
            hint="restore it, or make it anew with --autodeploy-update-baseline",
        ) from None
    except OSError as error:
        raise BaselineError(
            f"cannot read {shown}: {error.strerror or error}", hint="check its permissions"
        ) from error
    return parse_baseline(text, shown)


def other_boards(path: Path) -> list[str]:
    """The board types, such as ``apollo4p_evb.hardware``, that a model has other baselines of."""
    return sorted(other.stem for other in path.parent.glob("[!.]*.json") if other != path)


def write_baseline(path: Path, baseline: Baseline) -> None:
    """Replace a file; the caller holds its lock. Raises BaselineError.

    What a killed run left beside it is removed.
    """
    for remnant in path.parent.glob(f"{temporary_prefix(path)}*"):
        with suppress(OSError):
            remnant.unlink()
    try:
        write_bytes(path, baseline_text(baseline).encode())
    except ResultsError as error:
        raise BaselineError(error.what, hint="nothing was changed") from error


def keep_named(files: Sequence[Path], folder: Path, name: str) -> Path:
    """Copy baselines of a folder to the named ones in it, and return where these are.

    Raises ValueError for what is no name, BaselineError when it is taken or nothing can be written.
    """
    kept = folder / named_folder(plain_name(name))
    if kept.exists():
        raise BaselineError(f"there is {kept} already", hint="choose another name, or remove it")
    for path in files:
        copy = kept / path.relative_to(folder)
        try:
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
        except OSError as error:
            text = error.strerror or str(error)
            raise BaselineError(f"cannot write {copy}: {text}", hint="see permissions") from error
    return kept


@contextmanager
def locked(path: Path, timeout_s: float = LOCK_TIMEOUT_S) -> Iterator[None]:
    """Keep other processes of this user from the file. Raises BaselineError.

    The lock is a file in the system's folder for temporary files: none in a folder under version
    control.
    """
    key = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:32]
    try:
        with locked_file(private_folder() / f"baseline-{key}.lock", timeout_s):
            yield
    except LockHeld:
        raise BaselineError(
            f"{path} is being updated by another run", seconds=timeout_s, hint="try again"
        ) from None
    except (LockUnusable, NotPrivate) as error:
        raise BaselineError(f"cannot update {path}: {error.what}", hint=error.hint) from error
