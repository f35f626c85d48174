"""Which file is the baseline of a model: by its id, else by its path or by its content.

The id of a model is as short as a run allows: a second file of that name in another folder makes it
longer, and the baseline would no longer be found by it alone.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pytest_autodeploy.baseline.errors import BaselineError
from pytest_autodeploy.baseline.format import Baseline
from pytest_autodeploy.baseline.store import baseline_path, belongs_elsewhere, read_baseline

MOST_NAMES = 3


@dataclass(frozen=True)
class Sought:
    """A model on a board type; ``file`` is its path relative to the root folder."""

    model_id: str
    file: str
    sha256: str | None
    board: str
    kind: str

    def path(self, folder: Path) -> Path:
        """The file that has its id."""
        return baseline_path(folder, self.model_id, self.board, self.kind)


def find_baseline(folder: Path, root: Path, sought: Sought, *, copies: bool = True) -> Path:
    """The file of a model's baseline; where there is none, the one that has its id.

    It is, in this order, the one that says the model's path; one of the same content, or with the
    same id, whose own model is no longer where it was; with ``copies`` one of the same content.
    A damaged file of the board type, which may be it, is returned when nothing else is found.
    """
    own = sought.path(folder)
    try:
        mine = read_baseline(own)
    except BaselineError:
        return own
    if mine and mine.file == sought.file:
        return own
    others, damaged = _others(folder, own)
    candidates = {own: mine, **others} if mine else others
    inside = (
        bool(sought.file) and (root / sought.file).exists()
    )  # of models elsewhere only the name is kept
    same_path = [path for path, each in others.items() if inside and each.file == sought.file]
    same_model = [path for path, each in candidates.items() if same_content(each, sought.sha256)]
    gone = [p for p in same_model if not belongs_elsewhere(candidates[p], sought.file, root)]
    moved = [own] if mine and not belongs_elsewhere(mine, sought.file, root) else []
    found = [*same_path, *gone, *moved, *(same_model if copies else []), *damaged]
    return found[0] if found else own


def same_content(baseline: Baseline, sha256: str | None) -> bool:
    """Whether a baseline is of a model with this hash."""
    return bool(sha256) and sha256 in {e.model_sha256 for e in baseline.entries.values()}


def nearest_names(path: Path) -> list[str]:
    """The models that a folder of baselines has, those first whose names are nearest."""
    names = sorted({other.parent.name for other in path.parent.parent.glob("*/[!.]*.json")})
    near = difflib.get_close_matches(path.parent.name, names, n=MOST_NAMES, cutoff=0.5)
    return [*near, *(name for name in names if name not in near)][:MOST_NAMES]


def _others(folder: Path, own: Path) -> tuple[dict[Path, Baseline], list[Path]]:
    """The baselines of other models on a board type, and the files that cannot be read."""
    found: dict[Path, Baseline] = {}
    damaged = []
    for path in _files(folder, own):
        try:
            baseline = read_baseline(path)
        except BaselineError:
            damaged.append(path)
            continue
        if baseline:
            found[path] = baseline
    return found, damaged


def _files(folder: Path, own: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.glob(f"*/{own.name}")) if path != own)
