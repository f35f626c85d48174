"""From paths to models with short, unique, stable ids."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_autodeploy.base.errors import ModelError
from pytest_autodeploy.model.find import find_models


def make(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def ids(folder: Path, *paths: str) -> list[str]:
    return [model.id for model in find_models(paths, folder)]


def test_a_file_is_named_after_its_stem(tmp_path: Path) -> None:
    make(tmp_path, "kws.tflite")
    assert ids(tmp_path, "kws.tflite") == ["kws"]


def test_a_folder_gives_its_models_in_order(tmp_path: Path) -> None:
    make(tmp_path, "b.tflite", "a.tflite", "sub/c.tflite", "notes.txt")
    assert ids(tmp_path, ".") == ["a", "b", "c"]


def test_a_glob_gives_models_of_every_kind(tmp_path: Path) -> None:
    make(tmp_path, "a.tflite", "b.keras", "c.h5", "d.txt")
    assert ids(tmp_path, "*") == ["a", "b", "c"]


def test_a_file_with_glob_characters_is_itself(tmp_path: Path) -> None:
    make(tmp_path, "m[1].tflite")
    assert ids(tmp_path, "m[1].tflite") == ["m_1_"]


def test_a_saved_model_is_one_model(tmp_path: Path) -> None:
    make(tmp_path, "net/saved_model.pb", "net/variables/variables.index")
    assert ids(tmp_path, "net") == ["net"]


def test_the_same_file_counts_once(tmp_path: Path) -> None:
    make(tmp_path, "a.tflite")
    assert ids(tmp_path, "a.tflite", ".", "./a.tflite") == ["a"]


def test_equal_names_get_as_many_folders_as_they_need(tmp_path: Path) -> None:
    make(tmp_path, "x/a/m.tflite", "y/a/m.tflite", "y/b/m.tflite", "n.tflite", "n.keras")
    found = ids(tmp_path, "x", "y", "n.tflite", "n.keras")
    assert found == ["x/a/m.tflite", "y/a/m.tflite", "b/m.tflite", "n.tflite", "n.keras"]


def test_ids_hold_nothing_that_means_something_to_pytest_or_html(tmp_path: Path) -> None:
    make(tmp_path, "<b>::x.tflite", "a b.v2.tflite")
    assert ids(tmp_path, ".") == ["_b___x", "a b.v2"]


def test_ids_stay_apart_when_odd_characters_go(tmp_path: Path) -> None:
    make(tmp_path, "a?.tflite", "a*.tflite")
    found = ids(tmp_path, ".")
    assert len(set(found)) == 2


@pytest.mark.parametrize("path", ["missing.tflite", "empty", "*.tflite"])
def test_a_path_without_models_is_one_error(tmp_path: Path, path: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelError, match="no "):
        find_models([path], tmp_path)


@pytest.mark.parametrize(
    ("name", "way"),
    [("net.onnx", "onnx2tf"), ("net.pt", "ai-edge-torch"), ("NET.PTH", "ai-edge-torch")],
)
def test_a_file_of_another_framework_is_told_how_to_become_one(
    tmp_path: Path, name: str, way: str
) -> None:
    make(tmp_path, name)
    with pytest.raises(ModelError, match=f"which TFLite does not run\n.*{way}"):
        find_models([name], tmp_path)
