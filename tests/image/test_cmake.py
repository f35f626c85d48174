"""Builds for the emulated boards: nothing twice, little anew, and readable failures."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_autodeploy.base.errors import ModelDoesNotFit
from pytest_autodeploy.image.cmake import CMakeBuilder
from pytest_autodeploy.image.errors import BuildError, ToolMissing, TreeError
from pytest_autodeploy.image.firmware import BuildOptions
from tests.helpers.emulation import echo_builder, image, machine, needs_cmake
from tests.helpers.fake_tools import fake_program
from tests.helpers.support import ROOT
from tests.helpers.tflite_builder import relu
from tests.helpers.tflm_trees import APACHE, CM4, tflm

BOARD = "mps2-an386"


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cache, so that the firmware is compiled once."""
    return tmp_path_factory.mktemp("cache")


def builder(**options: object) -> CMakeBuilder:
    """A builder with the TFLM engine."""
    return CMakeBuilder(machine(BOARD), BuildOptions(**options), board_id="qemu:x")  # type: ignore[arg-type]


@needs_cmake
def test_a_second_run_builds_nothing(cache: Path, tmp_path: Path) -> None:
    first = echo_builder(BOARD, cache).build(image(tmp_path, relu()))
    written = first.file(".elf").stat().st_mtime_ns
    second = echo_builder(BOARD, cache).build(image(tmp_path, relu()))

    assert not second.fresh
    assert second.file(".elf").stat().st_mtime_ns == written


@needs_cmake
def test_another_model_compiles_only_what_depends_on_it(cache: Path, tmp_path: Path) -> None:
    echo_builder(BOARD, cache).build(image(tmp_path, relu()))
    (folder,) = (path for path in (cache / "build").iterdir() if path.is_dir())
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*.obj")}
    built = echo_builder(BOARD, cache).build(image(tmp_path, relu((1, 7))))

    kept = [path.name for path, time in before.items() if path.stat().st_mtime_ns == time]
    assert built.fresh
    assert "startup.cc.obj" in kept
    assert "engine_echo.cc.obj" not in kept


@needs_cmake
def test_an_image_says_what_it_was_made_of(cache: Path, tmp_path: Path) -> None:
    built = echo_builder(BOARD, cache).build(image(tmp_path, relu()))
    facts = json.loads((built.folder / "image.json").read_text())

    assert facts["board"] == BOARD
    assert "arm-none-eabi-gcc" in facts["compiler"]


@needs_cmake
def test_flags_from_outside_do_not_leak_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXXFLAGS", "-DNONSENSE -fno-such-option")

    assert echo_builder(BOARD, tmp_path / "cache").build(image(tmp_path, relu())).fresh


@needs_cmake
def test_a_compiler_that_fails_is_quoted(tmp_path: Path) -> None:
    real = subprocess.run(["which", "arm-none-eabi-gcc"], capture_output=True, text=True)  # noqa: S607
    folder = tmp_path / "bin"
    fake_program(folder, "arm-none-eabi-gcc", f'exec {real.stdout.strip()} "$@"')
    fake_program(
        folder,
        "arm-none-eabi-g++",
        'case "$*" in *calls.cc*) echo "calls.cc:7:1: error: no such thing" >&2; exit 1;; esac;'
        f'exec {real.stdout.strip().replace("gcc", "g++")} "$@"',
    )
    options = BuildOptions(cache=tmp_path / "cache", toolchain=str(folder))
    broken = CMakeBuilder(machine(BOARD), options, board_id="qemu:x", engine="echo")

    with pytest.raises(BuildError, match="building for qemu:x failed:") as caught:
        broken.build(image(tmp_path, relu()))

    assert "calls.cc:7:1: error: no such thing" in str(caught.value)


@needs_cmake
def test_a_build_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_program(tmp_path / "bin", "cmake", "sleep 60")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    options = BuildOptions(cache=tmp_path / "cache", timeout_s=0.3)
    slow = CMakeBuilder(machine(BOARD), options, board_id="qemu:x", engine="echo")

    with pytest.raises(BuildError, match=r"configure: cmake did not finish after 0\.3 s"):
        slow.build(image(tmp_path, relu()))


@needs_cmake
@pytest.mark.slow
def test_two_processes_build_one_image(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path;"
        "from tests.helpers.emulation import echo_builder, image;"
        "from tests.helpers.tflite_builder import relu;"
        "folder = Path(sys.argv[1]);"
        "model = image(folder / sys.argv[2], relu());"
        f"print(echo_builder({BOARD!r}, folder / 'cache').build(model).fresh)"
    )
    running = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(tmp_path), number],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in "12"
    ]

    assert sorted(process.communicate()[0].strip() for process in running) == ["False", "True"]


def test_without_cmake_the_error_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_program(tmp_path / "bin", "arm-none-eabi-gcc", "echo 'gcc 12.2.1'")
    fake_program(tmp_path / "bin", "ninja", "")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/nowhere")

    with pytest.raises(ToolMissing, match="building for qemu:mps2-an386 needs cmake") as caught:
        echo_builder(BOARD, tmp_path / "cache").build(image(tmp_path, relu()))

    assert "apt install cmake" in str(caught.value)


def test_armclang_is_for_evbs(tmp_path: Path) -> None:
    fake_program(tmp_path / "bin", "armclang", "echo 'Component: Arm Compiler for Embedded 6.22'")
    options = BuildOptions(cache=tmp_path / "cache", toolchain=str(tmp_path / "bin"))

    with pytest.raises(ToolMissing, match="qemu:x is built with gcc, not with armclang"):
        CMakeBuilder(machine(BOARD), options, board_id="qemu:x", engine="echo").plan(
            image(tmp_path, relu())
        )


def test_a_tree_for_ambiq_cpus_is_refused_before_anything_is_built(tmp_path: Path) -> None:
    tree = tflm(tmp_path / "helia_rt_v1_6_0", CM4, licence=APACHE)

    with pytest.raises(TreeError, match="qemu:x: helia_rt_v1_6_0 is licensed for Ambiq CPUs only"):
        builder(tflm_root=str(tree), cache=tmp_path / "cache").build(image(tmp_path, relu()))

    assert not (tmp_path / "cache").exists()


def test_a_tree_without_a_fitting_library_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TreeError, match="no static library for a cortex-m4f"):
        builder(tflm_root=str(tflm(tmp_path / "tree"))).plan(image(tmp_path, relu()))


@pytest.mark.parametrize("what", ["model", "arena"])
def test_a_memory_that_cannot_hold_it_is_refused_with_those_that_can(
    tmp_path: Path, what: str
) -> None:
    options = BuildOptions(cache=tmp_path, **{f"{what}_memory": "dtcm"})  # type: ignore[arg-type]
    wrong = CMakeBuilder(machine(BOARD), options, board_id="qemu:x", engine="echo")

    with pytest.raises(
        ModelDoesNotFit, match=rf"cannot hold the {what} in DTCM; it can in \w+, PS"
    ):
        wrong.plan(image(tmp_path, relu()))


def test_an_arena_that_is_too_large_is_refused_with_the_sum(tmp_path: Path) -> None:
    options = BuildOptions(cache=tmp_path, arena_memory="sram")
    small = CMakeBuilder(machine(BOARD), options, board_id="qemu:x", engine="echo")

    with pytest.raises(ModelDoesNotFit, match=r"arena 4,096\.0 KB \+ reserved 256\.0 KB \+ inputs"):
        small.plan(image(tmp_path, relu(), arena_bytes=4 << 20))
