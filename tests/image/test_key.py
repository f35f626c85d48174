"""Keys of builds: another one for anything that changed, the same one else."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from pytest_autodeploy.base import resources
from pytest_autodeploy.image.cmake import CMakeBuilder
from pytest_autodeploy.image.firmware import BuildOptions
from pytest_autodeploy.image.key import build_key, content_digest, stat_digest
from tests.helpers.emulation import echo_builder, image, machine
from tests.helpers.tflite_builder import relu


def test_the_order_of_parts_does_not_matter() -> None:
    assert build_key({"a": 1, "b": [2]}) == build_key({"b": [2], "a": 1})


@pytest.mark.parametrize("other", [{"a": 2}, {"b": 1}, {"a": "1"}, {"a": 1, "b": None}, {}])
def test_any_other_part_makes_another_key(other: dict[str, object]) -> None:
    assert build_key({"a": 1}) != build_key(other)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A folder with two headers and a text."""
    for name in ("a.h", "sub/b.h", "notes.txt"):
        path = tmp_path / "tree" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return tmp_path / "tree"


def test_a_copy_of_a_folder_has_the_same_content(tree: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(tree, tmp_path / "copy", copy_function=shutil.copyfile)

    assert content_digest(copy) == content_digest(tree)


@pytest.mark.parametrize("change", ["content", "name", "new", "gone"])
def test_any_change_of_a_folder_changes_its_digest(tree: Path, change: str) -> None:
    before = content_digest(tree)
    match change:
        case "content":
            (tree / "a.h").write_text("A.h")
        case "name":
            (tree / "a.h").rename(tree / "c.h")
        case "new":
            (tree / "sub" / "empty.h").touch()
        case "gone":
            (tree / "sub" / "b.h").unlink()

    assert content_digest(tree) != before


def test_files_of_other_kinds_do_not_count(tree: Path) -> None:
    before = content_digest(tree, ".h")
    (tree / "notes.txt").write_text("other")

    assert content_digest(tree, ".h") == before


def test_the_digest_of_a_large_tree_sees_times_and_sizes(tree: Path) -> None:
    before = stat_digest(tree, "sub")
    (tree / "a.h").write_text("outside of the folder that is asked for")
    assert stat_digest(tree, "sub") == before

    os.utime(tree / "sub" / "b.h", ns=(1, 1))
    assert stat_digest(tree, "sub") != before


def key(builder: CMakeBuilder, folder: Path, content: bytes, arena_bytes: int = 0) -> str:
    """The key that a builder gives an image."""
    return builder.plan(image(folder, content, arena_bytes=arena_bytes)).key


@pytest.fixture(autouse=True)
def compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A compiler that only says its version."""
    from tests.helpers.fake_tools import fake_program

    path = fake_program(tmp_path / "bin", "arm-none-eabi-gcc", "echo 'gcc (fake) 12.2.1'")
    monkeypatch.setenv("AUTODEPLOY_TOOLCHAIN", str(path))
    return path


def test_the_same_model_has_the_same_key_wherever_it_lies(tmp_path: Path) -> None:
    first = key(echo_builder("mps2-an386", tmp_path), tmp_path / "one", relu())
    second = key(echo_builder("mps2-an386", tmp_path), tmp_path / "two", relu())

    assert first == second


def test_another_arena_within_the_memory_is_the_same_image(tmp_path: Path) -> None:
    builder = echo_builder("mps2-an386", tmp_path)

    assert key(builder, tmp_path, relu(), arena_bytes=4096) == key(builder, tmp_path, relu())


def test_model_board_memory_and_compiler_each_change_the_key(
    tmp_path: Path, compiler: Path
) -> None:
    external = CMakeBuilder(
        machine("mps2-an386"),
        BuildOptions(cache=tmp_path, arena_memory="psram"),
        board_id="qemu",
        engine="echo",
    )
    keys = [
        key(echo_builder("mps2-an386", tmp_path), tmp_path, relu()),
        key(echo_builder("mps2-an386", tmp_path), tmp_path, relu((1, 5))),
        key(echo_builder("mps3-an547", tmp_path), tmp_path, relu()),
        key(external, tmp_path, relu()),
    ]
    compiler.write_text(compiler.read_text().replace("12.2.1", "13.2.1"))
    keys.append(key(echo_builder("mps2-an386", tmp_path), tmp_path, relu()))

    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize(
    ("file", "counts"),
    [
        ("firmware/rpc/new.h", True),
        ("firmware/boards/mps2_an386/memory.ld", True),
        ("templates/firmware/new.j2", True),
        ("firmware/tests/new.cc", False),
        ("firmware/README.md", False),
    ],
)
def test_our_own_sources_are_a_part_of_the_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, counts: bool
) -> None:
    package = tmp_path / "package"
    for name in ("firmware", "templates/firmware"):
        shutil.copytree(resources.resource(name), package / name)
    monkeypatch.setattr(resources, "_PACKAGE", package)
    before = key(echo_builder("mps2-an386", tmp_path), tmp_path, relu())
    (package / file).write_text("new")

    changed = key(echo_builder("mps2-an386", tmp_path), tmp_path, relu()) != before
    assert changed == counts
