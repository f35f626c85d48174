"""The minimal library: what is in it, what it offers, and that it works in a program."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pytest_autodeploy.deliver.example import run_example
from pytest_autodeploy.deliver.library import Library, LibraryBuilder
from pytest_autodeploy.image.errors import BuildError, ToolMissing, TreeError
from pytest_autodeploy.image.firmware import BuildOptions
from tests.helpers.deliver_builds import (
    example_builder,
    fake_tflm,
    library_builder,
    model_sources,
    run,
)
from tests.helpers.emulation import MACHINES, machine, needs_compiler, needs_qemu
from tests.helpers.fake_tools import fake_program

pytestmark = needs_compiler
PROGRAM = """
#include <stdio.h>
int one_run(int);
int two_run(int);
int main(void) {
    printf("one %d, two %d\\n", one_run(4), two_run(4));
    return 0;
}
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A TFLM tree whose kernels triple."""
    return fake_tflm(tmp_path_factory.mktemp("tflm") / "tree", scale=3)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def library(tree: Path, cache: Path) -> Library:
    return library_builder("mps2-an386", cache, tree).build("kws", model_sources("kws"))


def symbols(library: Library, *options: str) -> list[str]:
    """Names of a library's symbols."""
    text = run(library.path.parent, "nm", "-P", *options, str(library.path))
    return [line.split()[0] for line in text.splitlines() if len(line.split()) > 1]


def test_only_the_functions_of_the_model_are_global(library: Library) -> None:
    assert symbols(library, "--defined-only", "--extern-only") == ["kws_run"]


def test_what_the_model_does_not_reach_is_left_out(library: Library) -> None:
    names = " ".join(symbols(library))

    assert "conv" in names
    assert "conv_that_nobody_calls" not in names
    assert "fully_connected" not in names
    assert "pooling" not in names


def test_members_of_the_same_name_are_both_used(library: Library) -> None:
    names = " ".join(symbols(library, "--defined-only"))

    assert "_Z4convi" in names
    assert "_Z4biasv" in names


def test_only_the_c_library_stays_to_be_linked(tree: Path, cache: Path) -> None:
    sources = model_sources("far")
    source = sources["far_model.cc"].replace("conv(value)", "fully_connected(value)")
    builder = library_builder("mps2-an386", cache, tree)

    library = builder.build("far", sources | {"far_model.cc": source})

    missing = symbols(library, "--undefined-only")
    assert [name for name in missing if not name.startswith("__aeabi_")] == ["sqrt"]


def test_unwind_tables_and_what_they_need_are_left_out(library: Library) -> None:
    sections = run(library.path.parent, "objdump", "-h", str(library.path))

    assert ".ARM.ex" not in sections
    assert not [name for name in symbols(library) if "unwind" in name]


def test_nothing_of_this_machine_is_in_a_library(library: Library, tree: Path, cache: Path) -> None:
    content = library.path.read_bytes()

    assert str(tree).encode() not in content
    assert str(cache).encode() not in content


def test_two_builds_give_the_same_bytes(library: Library, tree: Path, tmp_path: Path) -> None:
    again = library_builder("mps2-an386", tmp_path, tree).build("kws", model_sources("kws"))

    assert again.path != library.path
    assert again.path.read_bytes() == library.path.read_bytes()


def test_a_library_that_is_in_the_cache_is_not_built_again(
    library: Library, tree: Path, cache: Path
) -> None:
    before = library.path.stat().st_mtime_ns

    again = library_builder("mps2-an386", cache, tree).build("kws", model_sources("kws"))

    assert again.path == library.path
    assert again.path.stat().st_mtime_ns == before


def test_the_parts_of_a_library_are_told(library: Library) -> None:
    flash = {size.part: size.flash_bytes for size in library.footprint.parts}
    ram = {size.part: size.ram_bytes for size in library.footprint.parts}

    assert flash["model"] == 1000
    assert ram["arena"] == 2000
    assert flash["kernels: convolution"] > 0
    assert "kernels: fully connected" not in flash
    assert library.footprint.flash_bytes == sum(flash.values())


@needs_qemu
@pytest.mark.parametrize("name", MACHINES)
def test_the_libraries_of_two_models_run_in_one_program(
    name: str, tree: Path, cache: Path, tmp_path: Path
) -> None:
    builder = example_builder(name, cache)
    one = library_builder(name, cache, tree).build("one", model_sources("one"))
    other_tree = fake_tflm(tmp_path / "other", scale=5)
    two = library_builder(name, cache, other_tree).build("two", model_sources("two"))

    program = builder.build({"one": one.path, "two": two.path}, {"main.c": PROGRAM})
    ended = run_example(program.files[".elf"], machine(name))

    assert ended.output.splitlines() == ["one 24, two 32"]  # 4 * scale + 5, of initialisers 7
    assert ended.status == 0


@needs_qemu
@pytest.mark.parametrize("name", MACHINES)
def test_an_example_that_crashes_says_so_and_ends(name: str, cache: Path) -> None:
    source = "int main(void) { return *(volatile int *)(4 - 4); }"
    program = example_builder(name, cache).build({}, {"main.c": source})

    ended = run_example(program.files[".elf"], machine(name))

    assert ended.status == 70
    assert ended.output.startswith("restarted after a fault at 0x")


def test_without_a_tree_nothing_is_built(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AUTODEPLOY_TFLM_ROOT", raising=False)
    builder = LibraryBuilder(machine("mps2-an386"), BuildOptions(cache=cache), board_id="qemu:a")

    with pytest.raises(TreeError, match="--evb-tflm-root=DIR or AUTODEPLOY_TFLM_ROOT"):
        builder.build("kws", model_sources("kws"))


def test_a_tree_for_ambiq_alone_is_not_used_for_an_emulated_board(
    tree: Path, cache: Path, tmp_path: Path
) -> None:
    named = shutil.copytree(tree, tmp_path / "helia_rt_v1_7_0")

    with pytest.raises(TreeError, match="helia_rt_v1_7_0 is licensed for Ambiq CPUs only"):
        library_builder("mps2-an386", cache, named).build("kws", model_sources("kws"))


def test_a_compiler_that_is_not_gnu_is_refused(tree: Path, cache: Path, tmp_path: Path) -> None:
    compiler = fake_program(tmp_path, "armclang", "echo Arm Compiler for Embedded 6.22")
    options = BuildOptions(cache=cache, tflm_root=str(tree), toolchain=str(compiler))
    builder = LibraryBuilder(machine("mps2-an386"), options, board_id="qemu:mps2-an386")

    with pytest.raises(ToolMissing, match="needs GNU's linker, not armclang"):
        builder.build("kws", model_sources("kws"))


def test_an_error_in_the_source_is_shown_as_the_compiler_says_it(tree: Path, cache: Path) -> None:
    sources = model_sources("bad") | {"bad_model.cc": "int bad_run() { return nothing; }"}

    with pytest.raises(BuildError, match=r"bad_model\.cc:1:24: error: .nothing. was not declared"):
        library_builder("mps2-an386", cache, tree).build("bad", sources)


def test_a_compiler_that_hangs_is_ended(tree: Path, cache: Path, tmp_path: Path) -> None:
    compiler = fake_program(tmp_path, "arm-none-eabi-gcc", "echo gcc 12.2.1")
    fake_program(tmp_path, "arm-none-eabi-g++", "sleep 60")
    options = BuildOptions(cache=cache, tflm_root=str(tree), toolchain=str(compiler), timeout_s=0.5)
    builder = LibraryBuilder(machine("mps2-an386"), options, board_id="qemu:mps2-an386")

    with pytest.raises(BuildError, match=r"arm-none-eabi-g\+\+ did not finish after 0\.5 s"):
        builder.build("slow", model_sources("slow"))
