"""The two JSON files of a characterisation: ``<name>_mc.json`` and ``<name>_md.json``.

Both are one object, in UTF-8, with these keys of their own:

``format``           ``pytest-autodeploy model configuration`` or ``... model details``
``version``          of the format, 1; a reader refuses a newer one
``content_sha256``   SHA-256 of all other keys as canonical JSON: keys in order, no white space,
                     ASCII. It tells damage and edits; it is no signature

The details (md) have the fields of ``characterization.ModelDetails`` under ``details``, and
``tool_version``. The configuration (mc) has

``model``            ``name``, ``sha256`` and ``size_bytes`` of the .tflite file
``details_sha256``   the ``content_sha256`` of the details that it belongs to
``variable_arena``   ``bytes`` of the arena of resource variables, and their ``formula``

and the other fields of ``characterization.Characterization`` as they are documented there: bytes
are base64 of little-endian values, sizes are bytes, an unknown number is null.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from pytest_autodeploy.base.errors import ResultsError
from pytest_autodeploy.base.json_text import indented
from pytest_autodeploy.base.names import c_identifier
from pytest_autodeploy.deliver.characterization import (
    VARIABLE_ARENA_FORMULA,
    Characterization,
)
from pytest_autodeploy.deliver.document import WrongValue, from_plain, to_plain
from pytest_autodeploy.deliver.errors import CharacterizationError
from pytest_autodeploy.deliver.plausible import Implausible, checked
from pytest_autodeploy.deliver.replace import write_changed
from pytest_autodeploy.model.graph import Model

VERSION = 1
CONFIGURATION = "pytest-autodeploy model configuration"
DETAILS = "pytest-autodeploy model details"
AGAIN = "characterise the model again: pytest --tflite=MODEL"

MOST_BYTES = 256 << 20
"""The details list each scale of each channel, and the example has one inference."""

Document = dict[str, Any]


def file_names(model_name: str) -> tuple[str, str]:
    """The names of configuration and details of a model."""
    name = c_identifier(model_name)
    return f"{name}_mc.json", f"{name}_md.json"


def texts(characterization: Characterization) -> dict[str, str]:
    """The content of both files by their names."""
    details = characterization.details
    md = _seal(
        DETAILS, {"tool_version": characterization.tool_version, "details": to_plain(details)}
    )
    fields = {key: value for key, value in to_plain(characterization).items() if key != "details"}
    model = {"name": details.name, "sha256": details.sha256, "size_bytes": details.size_bytes}
    variables = {
        "bytes": characterization.variable_arena_bytes,
        "formula": VARIABLE_ARENA_FORMULA,
    }
    links = {
        "model": model,
        "details_sha256": md["content_sha256"],
        "variable_arena": variables,
    }
    mc = _seal(CONFIGURATION, {**fields, **links})
    return {
        name: indented(document, 2, sort_keys=True, allow_nan=False) + "\n"
        for name, document in zip(file_names(details.name), (mc, md), strict=True)
    }


def save(characterization: Characterization, folder: Path) -> list[Path]:
    """Write both files into a folder. Raises ResultsError."""
    written = []
    for name, text in texts(characterization).items():
        write_changed(folder / name, text)
        written.append(folder / name)
    return written


def remove(model_name: str, folder: Path) -> None:
    """Remove both files, which the latest run does not bear out. Raises ResultsError."""
    for name in file_names(model_name):
        try:
            (folder / name).unlink(missing_ok=True)
        except OSError as error:
            raise ResultsError(f"cannot remove {folder / name}: {error.strerror}") from None


def load(folder: Path, model: Model) -> Characterization:
    """The characterisation of a model from a folder, or from a folder somewhere below it.

    Raises CharacterizationError when a file is missing, damaged, newer or edited, when they are of
    another model or of two different runs, when they say what cannot be true of the model, and when
    several folders have them.
    """
    mc_path = _find(folder, model)
    md_path = mc_path.with_name(file_names(model.name)[1])
    mc, md = _read(mc_path, CONFIGURATION), _read(md_path, DETAILS)
    for path, found in (
        (mc_path, _text(mc.get("model"), "sha256")),
        (md_path, _text(md.get("details"), "sha256")),
    ):
        if found != model.sha256:
            raise CharacterizationError(
                f"{path} is of another model: its SHA-256 is {found}, that of {model.path} is "
                f"{model.sha256}",
                hint=AGAIN,
            )
    if mc.get("details_sha256") != md["content_sha256"]:
        raise CharacterizationError(
            f"{mc_path} and {md_path.name} are from different runs", hint=AGAIN
        )
    try:
        found = from_plain(Characterization, {**mc, "details": md["details"]}, "configuration")
        return checked(found, model)
    except WrongValue as error:
        raise CharacterizationError(f"{mc_path} is damaged: {error}", hint=AGAIN) from None
    except Implausible as error:
        raise CharacterizationError(f"{mc_path} cannot be true: {error}", hint=AGAIN) from None


def _find(folder: Path, model: Model) -> Path:
    name = file_names(model.name)[0]
    found = [folder / name] if (folder / name).exists() else sorted(folder.rglob(name))
    if len(found) == 1:
        return found[0]
    if not found:
        others = ", ".join(sorted(path.name for path in folder.rglob("*_mc.json"))) or "none"
        raise CharacterizationError(
            f"there is no {name} in {folder}, which has characterisations: {others}", hint=AGAIN
        )
    folders = ", ".join(str(path.parent.relative_to(folder)) for path in found)
    raise CharacterizationError(
        f"{folder} has more than one {name}, in {folders}", hint="name one of these folders"
    )


def _read(path: Path, kind: str) -> Document:
    """A checked document. Raises CharacterizationError."""
    if not path.is_file():
        raise CharacterizationError(f"{path} is missing", hint=AGAIN)
    try:
        if path.stat().st_size > MOST_BYTES:
            raise CharacterizationError(
                f"{path} is larger than any characterisation: {path.stat().st_size} bytes",
                hint=AGAIN,
            )
        document = json.loads(path.read_bytes(), parse_constant=_no_number)
    except OSError as error:
        raise CharacterizationError(
            f"{path} cannot be read: {error.strerror}", hint="check its permissions"
        ) from None
    except (ValueError, RecursionError):
        raise CharacterizationError(
            f"{path} is damaged or cut short: it is not JSON", hint=AGAIN
        ) from None
    if not isinstance(document, dict) or document.get("format") != kind:
        raise CharacterizationError(f"{path} is no {kind}", hint=AGAIN)
    version = document.get("version")
    if version != VERSION:
        newer = isinstance(version, int) and version > VERSION
        raise CharacterizationError(
            f"{path} has version {version!r} of its format, this pytest-autodeploy reads {VERSION}",
            hint="update pytest-autodeploy" if newer else AGAIN,
        )
    if document.get("content_sha256") != _digest(document):
        raise CharacterizationError(
            f"{path} is damaged or was edited: its content has another hash than it says",
            hint=AGAIN,
        )
    return document


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no number of JSON")


def _seal(kind: str, content: Document) -> Document:
    document = {"format": kind, "version": VERSION, **content}
    return {**document, "content_sha256": _digest(document)}


def _digest(document: Document) -> str:
    content = {key: value for key, value in document.items() if key != "content_sha256"}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _text(value: object, key: str) -> object:
    return value.get(key) if isinstance(value, dict) else None
