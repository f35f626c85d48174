"""From the paths that a user typed to model files with short, unique ids. Reads no file."""

from __future__ import annotations

import glob
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_autodeploy.base.errors import ModelError

SUFFIXES = (".tflite", ".keras", ".h5")

_TORCH = (
    "convert it with ai-edge-torch (ai_edge_torch.convert(model, inputs).export('model.tflite'))"
)
FOREIGN: Mapping[str, str] = {
    ".onnx": "convert it with onnx2tf (onnx2tf -i model.onnx -oiqt)",
    ".pt": _TORCH,
    ".pth": _TORCH,
    ".safetensors": _TORCH,
    ".pb": "give the folder of the SavedModel, or convert it with tf.lite.TFLiteConverter",
}
"""Files of other frameworks, and how to get from them to one that can be run here."""


@dataclass(frozen=True, repr=False)
class ModelFile:
    """A model to load: its ``id`` in test names, its path, and the ``name`` a user gave it.

    ``missing`` is raised in the place of loading it: there is no such file.
    """

    id: str
    path: Path
    name: str | None = None
    missing: ModelError | None = None

    def __repr__(self) -> str:
        """The id: Allure shows parameters so, and finds a test of earlier runs by them."""
        return self.id


def find_models(paths: Iterable[str | Path], base: Path) -> list[ModelFile]:
    """All models of files, folders and globs, each once, in order.

    Folders are searched for .tflite, and for .keras that have no .tflite of the same name beside.

    Relative paths start at ``base``. Raises ModelError when a path gives no model.
    """
    found: dict[Path, None] = {}
    for text in paths:
        for path in _expand(base / text):
            found.setdefault(path.resolve())
    return _with_ids(list(found))


def named(files: Sequence[ModelFile], name: str | None) -> list[ModelFile]:
    """The files, the only one under the ``name`` that a user gave. Raises ModelError for several.

    The name is cleaned as those of files are.
    """
    if name is None:
        return list(files)
    if len(files) != 1:
        raise ModelError(
            f"--autodeploy-name {name}: it names one model, and there are {len(files)}",
            hint="give --tflite once, with a file",
        )
    cleaned = _clean(name.strip())
    if not cleaned or name != cleaned:
        raise ModelError(
            f"--autodeploy-name {name!r} is no name",
            hint="letters, digits, spaces and _ . + = - are allowed in it",
        )
    return [replace(files[0], id=cleaned, name=cleaned)]


def _expand(path: Path) -> list[Path]:
    if path.is_dir():
        if (path / "saved_model.pb").is_file():
            return [path]
        models = [file for file in path.rglob("*.tflite") if file.is_file()]
        models += [
            file
            for file in path.rglob("*.keras")
            if file.is_file() and not file.with_suffix(".tflite").is_file()
        ]
        return sorted(models) or _none(f"no .tflite file in the folder {path}, and no .keras")
    if path.is_file() and (way := FOREIGN.get(path.suffix.lower())):
        raise ModelError(
            f"{path} is a {path.suffix} file, which TFLite does not run",
            hint=f"{way}, and give the .tflite file",
        )
    if path.exists() or not glob.has_magic(str(path)):
        return [path] if path.exists() else _none(f"no such model file: {path}")
    matches = sorted(Path(match) for match in glob.glob(str(path), recursive=True))  # noqa: PTH207
    models = [match for match in matches if match.suffix in SUFFIXES]
    return models or _none(f"no model matches {path}")


def _none(reason: str) -> list[Path]:
    raise ModelError(
        reason, hint=f"Give a file ({', '.join(SUFFIXES)}), a folder of models or a glob."
    )


def _with_ids(paths: Sequence[Path]) -> list[ModelFile]:
    names = {path: _clean(path.stem) for path in paths}
    for depth in range(1, max((len(path.parts) for path in paths), default=0)):
        counts = Counter(names.values())
        clashing = [path for path in paths if counts[names[path]] > 1]
        if not clashing:
            break
        for path in clashing:
            names[path] = "/".join(map(_clean, path.parts[-depth:]))
    return [ModelFile(name, path) for path, name in _number(names).items()]


def _clean(name: str) -> str:
    """What is safe in a test id, which is also a command-line argument and text in reports."""
    return re.sub(r"[^\w.+= -]", "_", name)


def _number(names: dict[Path, str]) -> dict[Path, str]:
    """Tell apart what is still alike, which only names of odd characters are."""
    seen: Counter[str] = Counter()
    numbered = {}
    for path, name in names.items():
        seen[name] += 1
        numbered[path] = name if seen[name] == 1 else f"{name}~{seen[name]}"
    return numbered
