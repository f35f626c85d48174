"""Which file is a model's baseline: whatever else of that name is there, by path and content."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_autodeploy.baseline.format import Baseline
from pytest_autodeploy.baseline.lookup import Sought, find_baseline, nearest_names
from pytest_autodeploy.baseline.store import baseline_path, write_baseline
from tests.helpers.baseline_examples import ENTRY

SHA, OTHER_SHA = "ab" * 32, "cd" * 32


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with two models of one name."""
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "net.tflite").touch()
    return tmp_path


def keep(root: Path, model_id: str, file: str, sha256: str = SHA) -> Path:
    """Write the baseline of a model."""
    path = baseline_path(root / "kept", model_id, "apollo4p_evb", "simulated")
    entry = replace(ENTRY, provenance={"model_sha256": sha256})
    write_baseline(path, Baseline(model_id, file, {"HP": entry}))
    return path


def found(root: Path, model_id: str, file: str, sha256: str = SHA, *, copies: bool = True) -> Path:
    sought = Sought(model_id, file, sha256, "apollo4p_evb", "simulated")
    return find_baseline(root / "kept", root, sought, copies=copies)


@pytest.mark.parametrize("sha256", [SHA, OTHER_SHA], ids=["same model", "model changed"])
def test_a_longer_id_finds_the_file_by_path(root: Path, sha256: str) -> None:
    kept = keep(root, "net", "a/net.tflite")
    assert found(root, "a/net", "a/net.tflite", sha256) == kept


def test_a_short_id_finds_its_own_file_and_not_that_of_its_namesake(root: Path) -> None:
    keep(root, "net", "a/net.tflite", OTHER_SHA)
    kept = keep(root, "b/net", "b/net.tflite")
    assert found(root, "net", "b/net.tflite") == kept


def test_another_model_of_that_name_has_none(root: Path) -> None:
    keep(root, "net", "a/net.tflite", OTHER_SHA)
    assert not found(root, "b/net", "b/net.tflite").exists()


def test_a_model_that_was_moved_and_renamed_is_known_by_its_content(root: Path) -> None:
    kept = keep(root, "old", "old/old.tflite")
    assert found(root, "net", "a/net.tflite") == kept
    assert found(root, "net", "a/net.tflite", copies=False) == kept


def test_a_copy_is_held_against_the_same_model_but_does_not_take_its_file(root: Path) -> None:
    kept = keep(root, "net", "a/net.tflite")
    assert found(root, "b/net", "b/net.tflite") == kept
    assert not found(root, "b/net", "b/net.tflite", copies=False).exists()


def test_of_models_outside_of_the_project_the_name_alone_is_no_path(root: Path) -> None:
    keep(root, "net", "net.tflite", OTHER_SHA)
    assert not found(root, "x/net", "net.tflite").exists()


def test_a_damaged_file_may_be_the_one(root: Path) -> None:
    kept = keep(root, "net", "a/net.tflite")
    kept.write_text("{")
    assert found(root, "a/net", "a/net.tflite") == kept


def test_a_path_that_no_system_takes_is_not_there(root: Path) -> None:
    kept = keep(root, "net", "x" * 900)
    assert found(root, "a/net", "a/net.tflite") == kept


def test_other_boards_are_not_looked_at(root: Path) -> None:
    kept = keep(root, "net", "a/net.tflite")
    kept.rename(kept.with_name("apollo4p_evb.hardware.json"))
    assert not found(root, "a/net", "a/net.tflite").exists()


def test_the_nearest_names_come_first(root: Path) -> None:
    for name in ("aaa", "bbb", "ccc", "net_v1"):
        keep(root, name, f"{name}.tflite")
    path = found(root, "a/net", "a/net.tflite", OTHER_SHA)
    assert nearest_names(path) == ["net_v1", "aaa", "bbb"]
