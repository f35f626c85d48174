"""Generated C and C++ compiles without a warning, whatever the model is and is called."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from pytest_autodeploy.catalog.boards import BoardSpec, board_spec
from pytest_autodeploy.deliver import folders
from pytest_autodeploy.deliver.ambiqsuite import INCLUDES
from pytest_autodeploy.deliver.gnu import CORE_FLAGS
from pytest_autodeploy.deliver.library import LibraryBuilder
from pytest_autodeploy.deliver.sources import Sources
from pytest_autodeploy.image.firmware import BuildOptions
from tests.helpers.deliver_examples import MODELS, characterized, load
from tests.helpers.emulation import machine

WARNINGS = ("-Wall", "-Wextra", "-Werror", "-c")
ARM = ("arm-none-eabi-", CORE_FLAGS["cortex-m4f"])
M55 = ("arm-none-eabi-", CORE_FLAGS["cortex-m55"])
HOST = ("", ())
COMPILERS = {"host": HOST, "cortex-m4f": ARM, "cortex-m55": M55}

TREE = os.environ.get("AUTODEPLOY_TFLM_ROOT", "")
needs_tree = pytest.mark.skipif(not TREE, reason="AUTODEPLOY_TFLM_ROOT names no TFLM tree")


@pytest.fixture(params=COMPILERS)
def compiler(request: pytest.FixtureRequest) -> tuple[str, Sequence[str]]:
    """Prefix and flags of a compiler that is installed."""
    prefix, flags = COMPILERS[request.param]
    if shutil.which(f"{prefix}gcc") is None or shutil.which(f"{prefix}g++") is None:
        pytest.skip(f"not installed: {prefix}gcc, {prefix}g++")
    return prefix, flags


@pytest.fixture(params=MODELS)
def sources(request: pytest.FixtureRequest, tmp_path: Path) -> Sources:
    """The sources of a model for an emulated board."""
    return sources_of(request.param, tmp_path, machine("mps2-an386"))


def sources_of(name: str, folder: Path, board: BoardSpec) -> Sources:
    """The sources of one of the models."""
    model = load(MODELS[name], folder, name)
    return Sources(characterized(model), model, board)


def written(folder: Path, files: dict[str, str]) -> Path:
    """The folder with these files."""
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def check(folder: Path, *command: str) -> None:
    """Compile every source of a kind; its warnings are errors."""
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr


def test_the_example_is_strict_c11(
    sources: Sources, tmp_path: Path, compiler: tuple[str, Sequence[str]]
) -> None:
    prefix, flags = compiler
    folder = written(tmp_path / "src", sources.example("stdio"))
    files = sorted(path.name for path in folder.glob("*.c"))

    strict = ("-std=c11", "-pedantic", "-Wconversion", "-Wdouble-promotion", "-O1")
    check(folder, f"{prefix}gcc", *flags, *strict, *WARNINGS, *files)


def test_the_example_for_neuralspot_is_strict_cpp(
    sources: Sources, tmp_path: Path, compiler: tuple[str, Sequence[str]]
) -> None:
    """But for its main on a board, which includes neuralSPOT's headers."""
    prefix, flags = compiler
    folder = written(tmp_path / "src", sources.example("neuralspot"))
    files = sorted(
        path.name for path in folder.glob("*.cc") if not prefix or path.name != "main.cc"
    )

    assert len(files) >= 2
    strict = ("-std=c++17", "-pedantic", "-Wconversion", "-O1")
    check(folder, f"{prefix}g++", *flags, *strict, *WARNINGS, *files)


def test_the_function_of_the_readme_compiles(
    sources: Sources, tmp_path: Path, compiler: tuple[str, Sequence[str]]
) -> None:
    prefix, flags = compiler
    files = folders.library(sources)
    code = str(files["README.md"]).partition("```c\n")[2].partition("```")[0]
    header = f"{sources.name}_api.h"
    folder = written(tmp_path / "mine", {"mine.c": code, header: str(files[f"lib/{header}"])})

    assert "infer(" in code
    check(folder, f"{prefix}gcc", *flags, "-std=c11", "-pedantic", *WARNINGS, "mine.c")


def test_the_header_and_the_model_data_are_strict_c_and_cpp(
    sources: Sources, tmp_path: Path, compiler: tuple[str, Sequence[str]]
) -> None:
    prefix, flags = compiler
    folder = written(tmp_path / "src", sources.library() | sources.example("stdio"))
    headers = "".join(
        f'#include "{sources.name}_{end}.h"\n' for end in ("api", "model_data", "example")
    )
    (folder / "only.c").write_text(f"{headers}int none(void) {{ return {sources.name}_INPUTS; }}\n")
    (folder / "only.cc").write_text(
        f"{headers}int none() {{ return {sources.name}_example(nullptr); }}\n"
    )

    check(folder, f"{prefix}gcc", *flags, "-std=c11", "-pedantic", *WARNINGS, "only.c")
    check(folder, f"{prefix}g++", *flags, "-std=c++17", "-pedantic", *WARNINGS, "only.cc")
    check(folder, f"{prefix}g++", *flags, *WARNINGS, f"{sources.name}_model_data.cc")


@needs_tree
def test_the_model_sources_compile_with_tflm(
    tmp_path: Path, compiler: tuple[str, Sequence[str]]
) -> None:
    """Of all models at once, each in a namespace: TFLM's headers take long to read."""
    prefix, flags = compiler
    together: dict[str, list[str]] = {"headers": [], "models": []}
    for number, name in enumerate(MODELS):
        sources = sources_of(name, tmp_path, machine("mps2-an386"))
        folder = written(tmp_path / f"model_{number}", sources.library())
        path = f"{folder.name}/{sources.name}_model.cc"
        text = (tmp_path / path).read_text()
        together["headers"] += [line for line in text.splitlines() if line.startswith("#include")]
        together["models"].append(f'namespace of_{number} {{\n#include "{path}"\n}}')
    headers = [line for line in dict.fromkeys(together["headers"]) if "tensorflow" in line]
    lines = ["#include <new>", "#include <stddef.h>", "#include <stdint.h>"]
    (tmp_path / "all.cc").write_text("\n".join([*lines, *headers, *together["models"]]))
    includes = [word for path in INCLUDES for word in ("-isystem", str(Path(TREE, path)))]
    own = ("-std=c++17", "-fno-rtti", "-fno-exceptions", "-DTF_LITE_STATIC_MEMORY")

    check(tmp_path, f"{prefix}g++", *flags, *own, *WARNINGS, "-fsyntax-only", *includes, "all.cc")


@pytest.mark.parametrize("board", ["apollo3p_evb", "apollo510_evb"])
def test_placed_data_compiles_for_evbs(tmp_path: Path, board: str) -> None:
    if shutil.which("arm-none-eabi-g++") is None:
        pytest.skip("not installed: arm-none-eabi-g++")
    model = load(MODELS["relu"], tmp_path)
    for memory in ("mram", "sram"):
        sources = Sources(characterized(model), model, board_spec(board), model_memory=memory)
        folder = written(tmp_path / memory, sources.library())
        check(folder, "arm-none-eabi-g++", *ARM[1], *WARNINGS, "model_model_data.cc")


def test_two_models_live_in_one_program(tmp_path: Path) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("not installed: gcc")
    first = sources_of("relu", tmp_path, machine("mps2-an386"))
    second = sources_of("add-int8", tmp_path, machine("mps2-an386"))
    folder = written(tmp_path / "src", first.example("stdio") | second.example("stdio"))
    names = (first.name, second.name)
    includes = "".join(
        f'#include "{name}_{end}.h"\n'
        for name in names
        for end in ("api", "compare", "example_tensors")
    )
    (folder / "both.c").write_text(f"{includes}int none(void) {{ return 0; }}\n")

    sources = [f"{name}_{end}.c" for name in names for end in ("example", "compare")]
    check(folder, "gcc", "-std=c11", "-Wall", "-c", "both.c", *sources)
    objects = [path.replace(".c", ".o") for path in sources]
    check(folder, "gcc", "-r", "-o", "together.o", "both.o", *objects)


@needs_tree
def test_the_library_is_built_from_the_sources(tmp_path: Path) -> None:
    if shutil.which("arm-none-eabi-g++") is None:
        pytest.skip("not installed: arm-none-eabi-g++")
    sources = sources_of("モデル", tmp_path, machine("mps2-an386"))
    options = BuildOptions(cache=tmp_path / "cache", tflm_root=TREE)
    builder = LibraryBuilder(machine("mps2-an386"), options, board_id="qemu:mps2-an386")

    library = builder.build(sources.name, sources.library())

    assert library.footprint.ram_bytes > sources.arena.bytes + 576
