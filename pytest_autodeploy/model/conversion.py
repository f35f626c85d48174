"""Conversions that are kept: found again by what went into them."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from pytest_autodeploy.base.errors import ModelError
from pytest_autodeploy.base.files import write_bytes
from pytest_autodeploy.base.scratch import Scratch
from pytest_autodeploy.model.convert import Converted, to_tflite
from pytest_autodeploy.model.graph import Model
from pytest_autodeploy.model.load import load_model

FOLDER = "converted"
FORMAT = 1
"""Raised when the same source is to be converted otherwise."""

_PACKAGES = ("tensorflow", "keras")


@dataclass(frozen=True)
class _Kept:
    """What is kept beside a converted model."""

    source: str
    samples: int


def load_converted(source: Path, inputs: Path | None, output: Path) -> Model:
    """The model that TensorFlow makes of a Keras file or a SavedModel.

    It is kept below the results folder ``output``, if that is there, and not converted again while
    source, inputs and TensorFlow are the same. Its ``origin`` says from what and how it was made.
    Raises what `to_tflite` and `load_model` raise.
    """
    if not output.is_dir():
        with Scratch("convert") as folder:
            return _convert(source, inputs, folder.path)
    return _convert(source, inputs, output / FOLDER / _key(source, inputs)[:12])


def _convert(source: Path, inputs: Path | None, folder: Path) -> Model:
    target, about = folder / f"{source.stem}.tflite", folder / "conversion.json"
    if not (target.is_file() and about.is_file()):
        made = to_tflite(source, inputs)
        write_bytes(target, made.content)
        write_bytes(about, json.dumps(asdict(_Kept(source.name, made.samples))).encode())
    samples = _samples(about)
    model = load_model(target)
    return replace(model, origin=Converted(b"", samples).text(source.name))


def _samples(about: Path) -> int:
    try:
        return _Kept(**json.loads(about.read_bytes())).samples
    except (OSError, ValueError, TypeError) as error:
        raise ModelError(
            f"{about} cannot be read: {error}", hint="remove it: the model is converted again"
        ) from None


def _key(source: Path, inputs: Path | None) -> str:
    """A hash of all that a conversion depends on."""
    digest = hashlib.sha256(f"{FORMAT} {source.name}".encode())
    for package in _PACKAGES:
        digest.update(f"{package} {_version(package)};".encode())
    for path in _files(source):
        digest.update(f"{path.relative_to(source.parent).as_posix()};".encode())
        digest.update(_hash(path))
    if inputs is not None:
        digest.update(f"{inputs.suffix};".encode())
        digest.update(_hash(inputs))
    return digest.hexdigest()


def _files(source: Path) -> Iterable[Path]:
    if source.is_dir():
        return sorted(path for path in source.rglob("*") if path.is_file())
    return [source] if source.is_file() else []


def _hash(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").digest()
    except OSError:
        return b""  # reading it tells


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""
