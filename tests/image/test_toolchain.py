"""Compilers: found, given, checked; and tools that fail in their own ways."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_autodeploy.image.errors import BuildError, ToolMissing
from pytest_autodeploy.image.tool import find_program, run_build_tool
from pytest_autodeploy.image.toolchain import find_toolchain
from tests.helpers.emulation import needs_compiler
from tests.helpers.fake_tools import ends, fake_program

GCC = "arm-none-eabi-gcc"


@needs_compiler
def test_the_compiler_on_path_is_found() -> None:
    toolchain = find_toolchain()

    assert toolchain.kind == "gcc"
    assert toolchain.compiler.name == GCC
    assert GCC in toolchain.release


@pytest.mark.parametrize("given", ["bin/arm-none-eabi-gcc", "bin", "."])
def test_a_compiler_is_given_by_path_or_folder(tmp_path: Path, given: str) -> None:
    fake_program(tmp_path / "bin", GCC, "echo 'gcc (Arm GNU Toolchain 13.2.rel1) 13.2.1 20231009'")

    assert find_toolchain(str(tmp_path / given)).compiler == tmp_path / "bin" / GCC


def test_armclang_is_known_by_its_name(tmp_path: Path) -> None:
    words = "Product: X\\nComponent: Arm Compiler for Embedded 6.22\\nTool: armclang [5ee90000]"
    fake_program(tmp_path, "armclang", f"printf '{words}\\n'")

    assert find_toolchain(str(tmp_path)).kind == "armclang"


def test_a_variable_names_a_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_program(tmp_path, GCC, "echo 'gcc 14.2.1 20241119'")
    monkeypatch.setenv("AUTODEPLOY_TOOLCHAIN", str(tmp_path))

    assert find_toolchain().release == "gcc 14.2.1 20241119"


def test_a_missing_compiler_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(ToolMissing, match="apt install gcc-arm-none-eabi") as caught:
        find_toolchain()

    assert "--evb-toolchain" in str(caught.value)


@pytest.mark.parametrize(
    ("script", "complaint"),
    [
        ("echo 'gcc 9.3.1 20200408'", r"is version 9\.3\.1, older than 10\.3"),
        ("echo hello", "does not say which compiler it is"),
        ("echo 'gcc 12.2.1'; exit 1", "does not say which compiler it is"),
    ],
)
def test_a_compiler_that_cannot_be_used_is_refused(
    tmp_path: Path, script: str, complaint: str
) -> None:
    fake_program(tmp_path, GCC, script)

    with pytest.raises(ToolMissing, match=complaint):
        find_toolchain(str(tmp_path))


def test_a_program_that_is_missing_is_named_with_what_needs_it() -> None:
    with pytest.raises(ToolMissing, match="building needs no-such-tool, which is not on PATH"):
        find_program("no-such-tool", needed="building", install="get it")


def test_a_file_that_is_no_program_is_named(tmp_path: Path) -> None:
    (tmp_path / "tool").write_text("text")

    with pytest.raises(ToolMissing, match=r"cannot run .*tool: Permission denied"):
        run_build_tool([tmp_path / "tool"], what="building", timeout_s=5)


def test_a_tool_that_hangs_is_killed_with_its_children(tmp_path: Path) -> None:
    child = tmp_path / "child"
    tool = fake_program(tmp_path, "tool", f"sleep 60 & echo $! > {child}; echo linking; sleep 60")

    with pytest.raises(BuildError, match=r"tool did not finish after 2 s") as caught:
        run_build_tool([tool], what="building", timeout_s=2)

    assert "It said last: linking" in str(caught.value)
    assert ends(int(child.read_text()))
