"""What a Keras file says of its layers, read as JSON: nothing of it is made or run.

A Lambda layer is Python code in the file. Keras runs it while it loads a model, depending on its
version and on the kind of file, so such files are refused before Keras sees them.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pytest_autodeploy.base.errors import AutodeployError

CODE = frozenset(("Lambda", "__lambda__"))
"""Classes whose configuration is code: the layer, and a function where a value belongs."""

RECURRENT = frozenset(("LSTM", "GRU", "SimpleRNN", "RNN", "Bidirectional", "ConvLSTM2D"))
"""Layers that become loops (WHILE) unless they are unrolled."""


class HostileModel(AutodeployError):
    """The file has code in it; the text names the layers."""


def read_config(path: Path) -> Any:
    """The configuration of a .keras or .h5 file; None when it has none."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            return json.loads(archive.read("config.json"))
    import h5py

    if not h5py.is_hdf5(path):  # neither format: Keras says so in its own words
        return None
    with h5py.File(path, "r") as file:
        text = file.attrs.get("model_config")
    return None if text is None else json.loads(text)


def refuse_code(path: Path) -> None:
    """Raise HostileModel for a file with Lambda layers, wherever they are nested."""
    found = sorted({_label(each) for each in _objects(read_config(path)) if _is(each, CODE)})
    if found:
        raise HostileModel(
            f"it has Python code in it ({', '.join(found)}), which is never run: replace Lambda"
            " layers by layers of Keras, or convert it yourself"
        )


def loops(path: Path) -> list[str]:
    """The recurrent layers that are not unrolled."""
    recurrent = [each for each in _objects(read_config(path)) if _is(each, RECURRENT)]
    return [_label(each) for each in recurrent if not _settings(each).get("unroll")]


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    """Every dictionary within a configuration."""
    if isinstance(value, dict):
        yield value
        for each in value.values():
            yield from _objects(each)
    elif isinstance(value, list):
        for each in value:
            yield from _objects(each)


def _is(value: dict[str, Any], classes: frozenset[str]) -> bool:
    name = value.get("class_name")
    return isinstance(name, str) and name.rpartition(">")[2] in classes


def _settings(value: dict[str, Any]) -> dict[str, Any]:
    settings = value.get("config")
    return settings if isinstance(settings, dict) else {}


def _label(value: dict[str, Any]) -> str:
    name = _settings(value).get("name") or value.get("name")
    return f"{value['class_name']} {name!r}" if name else str(value["class_name"])
