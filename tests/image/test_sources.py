"""Generated sources: strict templates, any name, and files that change only when they must."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from jinja2 import UndefinedError

from pytest_autodeploy.base.resources import resource
from pytest_autodeploy.base.templates import c_comment, c_data, c_string, cmake_string, render
from pytest_autodeploy.image.cmake import BUFFERS
from pytest_autodeploy.image.recipe import Recipe, make_recipe
from pytest_autodeploy.image.sources import generate, write_sources
from tests.helpers.emulation import COMPILER, image, machine, needs_compiler
from tests.helpers.support import KWS
from tests.helpers.tflite_builder import build_model, operator, relu, tensor

HOSTILE = (
    "two words",
    "v1.2.3",
    "8bit",
    "größe",
    "モデル",
    'quote"d',
    "end*/ of comment",
    "back\\slash",
    "line\nbreak",
    "class",
)


def named(folder: Path, name: str, engine: str = "echo") -> Recipe:
    """A recipe for a model with this name, whose tensors have it, too."""
    x, y = tensor((1, 4), name=name), tensor((1, 4), name=name)
    content = build_model(operators=[operator("RELU", [x], [y])], inputs=[x], outputs=[y])
    loaded = image(folder, content)
    object.__setattr__(loaded.model, "name", name)
    return make_recipe(
        loaded,
        machine("mps2-an386"),
        engine="echo" if engine == "echo" else "tflm",
        engine_version="1",
        buffers=BUFFERS,
    )


def test_a_name_that_the_context_lacks_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        render("autodeploy_config.h", {"board": "b"})


def test_the_configuration_says_what_the_firmware_is(tmp_path: Path) -> None:
    recipe = named(tmp_path, "kws")
    text = generate(recipe, "0123456789abcdef")["autodeploy_config.h"]

    assert 'kBoardName[] = "mps2-an386";' in text
    assert 'kBuildId[] = "0123456789abcdef";' in text
    assert f"0x{recipe.model.sha256[:2]}, 0x{recipe.model.sha256[2:4]}, " in text
    assert "kInputBytes = 16;" in text
    assert "kMaxLayers = 1;" in text


def test_the_arena_gets_all_that_its_memory_has_left(tmp_path: Path) -> None:
    context = named(tmp_path, "kws").context

    assert context["arena_bytes"] == machine("mps2-an386").memories["sram"].usable - 16


@needs_compiler
@pytest.mark.parametrize("name", HOSTILE)
def test_sources_compile_whatever_the_model_is_called(tmp_path: Path, name: str) -> None:
    sources = generate(named(tmp_path, name), "id")
    write_sources(tmp_path / "generated", sources)
    main = tmp_path / "main.cc"
    main.write_text("".join(f'#include "{header}"\n' for header in sources))
    includes = ["-I", str(tmp_path / "generated"), "-I", str(resource("firmware"))]
    warnings = ["-Wall", "-Wextra", "-Werror", "-std=c++17", "-fsyntax-only"]

    done = subprocess.run(
        [COMPILER, *warnings, *includes, str(main)], capture_output=True, text=True
    )

    assert done.returncode == 0, done.stderr


def test_a_c_string_holds_any_text() -> None:
    assert c_string('a"b\\c\n?é') == '"a\\042b\\134c\\012\\077\\303\\251"'


def test_a_comment_cannot_be_left() -> None:
    assert c_comment("a*/b\nc\\ /*é") == "a_b_c_ __"


def test_a_cmake_string_expands_nothing() -> None:
    assert cmake_string('C:\\x "${HOME}"') == '"C:\\\\x \\"\\${HOME}\\""'


def test_data_is_octal_in_lines_of_32_bytes() -> None:
    text = c_data(bytes([0, 7, 255]) + bytes(30))

    assert text.splitlines() == ['"\\000\\007\\377' + "\\000" * 29 + '"', '"\\000"']


def test_only_what_changed_is_written(tmp_path: Path) -> None:
    folder = tmp_path / "generated"
    write_sources(folder, {"a.h": "1", "b.h": "1", "old.h": "1"})
    times = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}

    write_sources(folder, {"a.h": "1", "b.h": "2"})

    assert {path.name for path in folder.iterdir()} == {"a.h", "b.h"}
    assert (folder / "a.h").stat().st_mtime_ns == times["a.h"]
    assert (folder / "b.h").read_text() == "2"


def test_relu_has_one_operator_in_its_resolver(tmp_path: Path) -> None:
    recipe = make_recipe(
        image(tmp_path, relu()),
        machine("mps3-an547"),
        engine="tflm",
        engine_version="tree",
        buffers=BUFFERS,
    )

    assert recipe.context["resolver_methods"] == ["AddRelu"]


def shared(folder: Path, content: bytes) -> Recipe:
    """The recipe of a model that is loaded into a shared image."""
    board = machine("mps2-an386")
    return make_recipe(
        image(folder, content), board, True, engine="tflm", engine_version="1", buffers=BUFFERS
    )


def test_models_of_the_same_operators_share_the_image_of_a_machine(tmp_path: Path) -> None:
    kws = KWS.read_bytes()
    one, other = shared(tmp_path / "a", kws), shared(tmp_path / "b", kws + bytes(16))
    third = shared(tmp_path / "c", relu())

    assert one.model.sha256 != other.model.sha256
    assert one.context == other.context
    assert generate(one, "id") == generate(other, "id")
    assert one.context["upload_bytes"] >= len(kws)
    assert third.context != one.context


def test_what_a_shared_image_has_no_room_for_gets_more_in_steps(tmp_path: Path) -> None:
    small, large = shared(tmp_path / "a", relu()), shared(tmp_path / "b", relu((1, 100_000)))
    larger = shared(tmp_path / "c", relu((1, 110_000)))

    assert small.context["input_bytes"] == 64 * 1024
    assert large.context["input_bytes"] == larger.context["input_bytes"] == 512 * 1024
