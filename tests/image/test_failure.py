"""What a failed build says."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from pytest_autodeploy.base.errors import ModelDoesNotFit, ModelError
from pytest_autodeploy.image.errors import BuildError, ToolMissing
from pytest_autodeploy.image.failure import build_failure, telling_lines
from tests.helpers.emulation import COMPILER, needs_compiler

SCRIPT = """
MEMORY { MRAM (rx) : ORIGIN = 0, LENGTH = 4K  SRAM (rw) : ORIGIN = 0x20000000, LENGTH = 1K }
SECTIONS { .text : { *(.text* .rodata*) } > MRAM  .bss : { *(.bss*) } > SRAM }
"""


def compiled(folder: Path, source: str, *options: str) -> str:
    """The output of the real compiler and linker for a program that does not build."""
    (folder / "main.cc").write_text(source)
    (folder / "memory.ld").write_text(SCRIPT)
    done = subprocess.run(
        [COMPILER, "main.cc", *options],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode
    return done.stdout


@needs_compiler
def test_memories_that_overflow_become_a_sentence(tmp_path: Path) -> None:
    source = (
        "__attribute__((used)) const char model[14096] = {1};"
        "__attribute__((used)) char arena[3072]; int main() { return 0; }"
    )
    output = compiled(tmp_path, source, "-nostdlib", "-Tmemory.ld", "-Wl,--entry=main")

    error = build_failure("building for the board", output)

    assert isinstance(error, ModelDoesNotFit)
    first, hint = str(error).splitlines()
    assert "KB too large for the memory region MRAM" in first
    assert "2.0 KB too large for the memory region SRAM" in first
    assert "--evb-arena-kb" in hint


@needs_compiler
def test_an_error_of_the_compiler_is_shown_with_its_place(tmp_path: Path) -> None:
    error = build_failure("building", compiled(tmp_path, "int main() { return nothing; }", "-c"))

    assert isinstance(error, BuildError)
    assert "main.cc:1:21: error: 'nothing' was not declared" in str(error)


@needs_compiler
def test_an_error_of_the_linker_names_what_is_missing(tmp_path: Path) -> None:
    source = "void gone(); int main() { gone(); }"
    text = str(build_failure("building", compiled(tmp_path, source, "-nostdlib")))

    assert "main.cc:(.text+" in text
    assert "undefined reference to `gone()'" in text
    assert "/ld:" not in text
    assert "ld returned" not in text


def test_armlink_says_it_in_other_words() -> None:
    output = (
        "Error: L6220E: Execution region MCU_MRAM size (4141056 bytes) exceeds limit "
        "(4128768 bytes). Region contains 120 bytes of padding.\nFinished: 0 information"
    )

    assert "12.0 KB too large for the memory region MCU_MRAM" in str(build_failure("b", output))


def test_a_compiler_without_libraries_is_not_complete() -> None:
    output = "rpc/bytes.h:3:10: fatal error: cstdint: No such file or directory"
    error = build_failure("building", output)

    assert isinstance(error, ToolMissing)
    assert "libstdc++-arm-none-eabi-newlib" in str(error)


def test_what_makes_no_sense_shows_its_end() -> None:
    assert telling_lines([f"line {n}" for n in range(30)]) == [f"line {n}" for n in range(20, 30)]
    assert telling_lines([]) == ["no output"]


def test_a_flood_of_errors_is_cut() -> None:
    assert len(telling_lines([f"a.cc:{n}:1: error: {n}" for n in range(100)])) == 10


@pytest.mark.parametrize(
    "line", ["make[1]: *** [all] Error 2", "collect2: error: ld returned 1 exit status"]
)
def test_noise_is_left_out(line: str) -> None:
    assert telling_lines(["a.cc:1:1: error: x", "", "", "", line]) == ["a.cc:1:1: error: x"]


def test_an_operator_that_the_tree_lacks_is_named() -> None:
    output = (
        "model_init.cc:9:20: error: 'class tflite::MicroMutableOpResolver<2>' has no member named "
        "'AddStablehloCase'; did you mean 'AddCast'?"
    )

    with pytest.raises(ModelError, match="has no operator StablehloCase, which the model needs"):
        raise build_failure("building", output)
