"""What takes long to make is made once in a run of the tests, whichever process asks first."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from filelock import FileLock

_PATIENCE_S = 900


def made_once(folder: Path, name: str, make: Callable[[Path], object]) -> Path:
    """The folder ``name`` in ``folder``, filled by ``make``; other processes wait for it.

    What failed half-way is not taken for made: the next process tries again.
    """
    made = folder / name
    with FileLock(f"{made}.lock", timeout=_PATIENCE_S):
        if not made.exists():
            draft = folder / f"{name}.draft"
            draft.mkdir(exist_ok=True)
            make(draft)
            draft.rename(made)
    return made
