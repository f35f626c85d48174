"""The files of a characterisation: what they hold, and what is refused with which words."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_autodeploy.deliver import files
from pytest_autodeploy.deliver.characterization import variable_arena_bytes
from pytest_autodeploy.deliver.errors import CharacterizationError
from pytest_autodeploy.model.graph import Model
from tests.helpers.deliver_examples import MODELS, characterized, load
from tests.helpers.tflite_builder import fully_connected, relu, running_sum

Document = dict[str, Any]


@pytest.fixture
def model(tmp_path: Path) -> Model:
    return load(fully_connected(), tmp_path)


@pytest.fixture
def folder(tmp_path: Path, model: Model) -> Path:
    """A folder with the files of the model."""
    kept = tmp_path / "kept"
    files.save(characterized(model), kept)
    return kept


def rewrite(path: Path, change: Callable[[Document], object], *, seal: bool = True) -> None:
    """Change a file; with ``seal`` its hash fits again."""
    document = json.loads(path.read_text())
    change(document)
    if seal:
        document["content_sha256"] = files._digest(document)
    path.write_text(json.dumps(document))


@pytest.mark.parametrize("name", MODELS)
def test_what_is_read_is_what_was_written(tmp_path: Path, name: str) -> None:
    model = load(MODELS[name], tmp_path, name)
    written = characterized(model)
    files.save(written, tmp_path / "kept")

    assert files.load(tmp_path / "kept", model) == written


def test_equal_runs_give_equal_files(folder: Path, model: Model) -> None:
    assert files.texts(characterized(model)) == {
        path.name: path.read_text() for path in folder.iterdir()
    }


def test_the_configuration_says_what_it_is_of(folder: Path, model: Model) -> None:
    document = json.loads((folder / "model_mc.json").read_text())

    assert document["format"] == "pytest-autodeploy model configuration"
    assert document["version"] == 1
    size = model.size_bytes
    assert document["model"] == {"name": "model", "sha256": model.sha256, "size_bytes": size}
    assert document["arena_bytes"] == 3000
    assert document["resolver_methods"] == ["AddFullyConnected"]
    assert document["place"]["source"] == "modelled"


def test_the_details_have_every_tensor(folder: Path, model: Model) -> None:
    details = json.loads((folder / "model_md.json").read_text())["details"]

    weights = next(each for each in details["tensors"] if each["name"] == "weights")
    assert (weights["shape"], weights["dtype"], weights["bytes"]) == ([4, 8], "int8", 32)
    assert weights["scales"] == [pytest.approx(0.01)]
    assert details["macs"] == model.macs


def test_variables_need_an_arena_of_their_own(tmp_path: Path) -> None:
    found = characterized(load(running_sum(), tmp_path))

    assert found.resource_variables == 1
    assert found.variable_arena_bytes == variable_arena_bytes(1) == 576
    assert variable_arena_bytes(0) == 0


def test_the_files_may_lie_in_a_folder_below(folder: Path, model: Model) -> None:
    assert files.load(folder.parent, model).details.sha256 == model.sha256


def test_several_folders_are_not_guessed_between(folder: Path, model: Model) -> None:
    files.save(characterized(model), folder.parent / "second")

    with pytest.raises(CharacterizationError, match=r"more than one model_mc.json, in kept"):
        files.load(folder.parent, model)


def test_a_folder_without_the_model_says_which_it_has(folder: Path, tmp_path: Path) -> None:
    other = load(relu(), tmp_path, "other")

    with pytest.raises(CharacterizationError, match=r"no other_mc.json in .*: model_mc.json"):
        files.load(folder, other)


@pytest.mark.parametrize("instead", [None, os.mkdir, os.mkfifo], ids=["nothing", "folder", "pipe"])
def test_missing_details_are_named(
    folder: Path, model: Model, instead: Callable[[Path], None] | None
) -> None:
    path = folder / "model_md.json"
    path.unlink()
    if instead:
        instead(path)

    with pytest.raises(CharacterizationError, match=r"model_md.json is missing"):
        files.load(folder, model)


@pytest.mark.parametrize("name", ["model_mc.json", "model_md.json"])
@pytest.mark.parametrize("part", [0, 1, 300, -2])
def test_a_file_that_was_cut_short_is_damaged(
    folder: Path, model: Model, name: str, part: int
) -> None:
    path = folder / name
    path.write_bytes(path.read_bytes()[:part])

    with pytest.raises(CharacterizationError, match=f"{name} is damaged or cut short"):
        files.load(folder, model)


@pytest.mark.parametrize("content", [b"\xff\xfe", b"[" * 100_000, b"[]", b"null", b"{}"])
def test_something_else_is_refused(folder: Path, model: Model, content: bytes) -> None:
    (folder / "model_mc.json").write_bytes(content)

    with pytest.raises(CharacterizationError, match=r"model_mc.json is"):
        files.load(folder, model)


def test_an_edit_is_noticed(folder: Path, model: Model) -> None:
    path = folder / "model_mc.json"
    rewrite(path, lambda document: document.update(arena_bytes=10), seal=False)

    with pytest.raises(CharacterizationError, match="damaged or was edited"):
        files.load(folder, model)


def test_a_newer_format_asks_for_an_update(folder: Path, model: Model) -> None:
    rewrite(folder / "model_mc.json", lambda document: document.update(version=2))

    with pytest.raises(CharacterizationError, match=r"version 2 .* reads 1\n  update"):
        files.load(folder, model)


def test_another_model_is_refused_with_both_hashes(folder: Path, tmp_path: Path) -> None:
    other = load(relu(), tmp_path)

    with pytest.raises(CharacterizationError, match="is of another model") as raised:
        files.load(folder, other)

    assert other.sha256 in str(raised.value)
    assert json.loads((folder / "model_mc.json").read_text())["model"]["sha256"] in str(
        raised.value
    )


def test_files_of_two_runs_are_not_mixed(folder: Path, model: Model) -> None:
    newer = replace(characterized(model), tool_version="0.2.0")
    (folder / "model_md.json").write_text(files.texts(newer)["model_md.json"])

    with pytest.raises(CharacterizationError, match=r"model_md.json are from different runs"):
        files.load(folder, model)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda mc: mc.pop("arena_bytes"), "configuration.arena_bytes is missing"),
        (lambda mc: mc.update(arena_bytes="1"), "configuration.arena_bytes is '1', not of"),
        (lambda mc: mc.update(arena_bytes=True), "configuration.arena_bytes is True, not of"),
        (lambda mc: mc.update(resolver_methods={}), "configuration.resolver_methods is not a list"),
        (lambda mc: mc["place"].update(source="guessed"), "place.source is 'guessed', not one of"),
        (lambda mc: mc["example"]["inputs"][0].update(data="?"), r"inputs\[0\].data is not base64"),
        (lambda mc: mc.update(example=[]), "configuration.example is not an object"),
    ],
)
def test_wrong_values_are_named(
    folder: Path, model: Model, change: Callable[[Document], object], words: str
) -> None:
    rewrite(folder / "model_mc.json", change)

    with pytest.raises(CharacterizationError, match=words):
        files.load(folder, model)
