"""Builds for EVBs through neuralSPOT's make, here a make that only writes down what it was told."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_autodeploy.base.errors import ModelDoesNotFit
from pytest_autodeploy.catalog.boards import board_names
from pytest_autodeploy.image.errors import BuildError, TreeError
from tests.helpers.emulation import image
from tests.helpers.fake_tools import fake_program
from tests.helpers.neuralspot_bench import Bench
from tests.helpers.tflite_builder import relu
from tests.helpers.tflm_trees import CM4, make_files


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """Everything but real tools."""
    return Bench(tmp_path, monkeypatch)


def test_make_gets_the_board_its_versions_and_folders_outside_of_the_sdk(
    bench: Bench, tmp_path: Path
) -> None:
    built = bench.builder("apollo3p_evb").build(image(tmp_path, relu()))
    words = bench.log.read_text().split()

    assert {
        f"{bench.sdk}",
        "PLATFORM=apollo3p_evb",
        "AS_VERSION=R3.1.1",
        "TF_VERSION=helia_rt_v1_6_0",
        "TOOLCHAIN=arm-none-eabi",
        "BLE_SUPPORTED=0",
        "EXAMPLE=autodeploy",
        "all",
    } <= set(words)
    outside = [word for word in words if word.startswith(("ADPATH=", "BINDIRROOT="))]
    assert all(f"={bench.folder}/cache/build/" in word for word in outside)
    assert built.file(".axf").read_text() == "axf\n"
    assert built.file(".bin").read_text() == "bin\n"


@pytest.mark.parametrize("board", board_names())
def test_every_board_has_what_make_needs(bench: Bench, tmp_path: Path, board: str) -> None:
    assert bench.builder(board).build(image(tmp_path, relu())).fresh


def test_the_app_folder_lists_our_sources_and_the_generated_ones(
    bench: Bench, tmp_path: Path
) -> None:
    bench.builder().build(image(tmp_path, relu()))
    (module,) = (bench.folder / "cache").rglob("module.mk")
    text = module.read_text()

    assert "firmware/validator/engine_tflm.cc" in text
    assert "engine_echo" not in text
    assert f"{module.parent}/src/model_data.cc" in text
    assert "$(eval $(call make-axf," in text


def test_the_pins_of_a_power_run_are_those_of_the_catalog(bench: Bench, tmp_path: Path) -> None:
    bench.builder("apollo4l_evb").build(image(tmp_path, relu()))
    (config,) = (bench.folder / "cache").rglob("autodeploy_config.h")
    pins = [line for line in config.read_text().splitlines() if "kPin" in line]

    assert pins == [
        "constexpr uint32_t kPinIn0 = 61;",
        "constexpr uint32_t kPinIn1 = 23;",
        "constexpr uint32_t kPinTrigger = 24;",
    ]


def test_the_sdk_is_not_written_to(bench: Bench, tmp_path: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in bench.sdk.rglob("*")}
    bench.builder().build(image(tmp_path, relu()))

    assert {path: path.stat().st_mtime_ns for path in bench.sdk.rglob("*")} == before


def test_a_second_run_builds_nothing(bench: Bench, tmp_path: Path) -> None:
    bench.builder().build(image(tmp_path, relu()))

    assert not bench.builder().build(image(tmp_path, relu())).fresh
    assert len(bench.log.read_text().splitlines()) == 1


@pytest.mark.parametrize("path", ["neuralspot/ns-core/ns_core.c", "make/new.mk", "Makefile"])
def test_an_edit_in_the_sdk_builds_again(bench: Bench, tmp_path: Path, path: str) -> None:
    bench.builder().build(image(tmp_path, relu()))
    make_files(bench.sdk, path)
    (bench.sdk / path).write_text("edited")

    assert bench.builder().build(image(tmp_path, relu())).fresh


def test_an_arena_is_in_the_fast_memory_unless_it_is_too_large_for_it(
    bench: Bench, tmp_path: Path
) -> None:
    keys = [
        bench.builder().plan(image(tmp_path, relu(), arena_bytes=kb * 1024)).key
        for kb in (0, 32, 40, 300, 350)
    ]

    assert keys[0] == keys[1] == keys[2]
    assert keys[3] == keys[4]
    assert keys[0] != keys[3]


def test_armclang_is_another_toolchain_to_make(bench: Bench, tmp_path: Path) -> None:
    fake_program(bench.folder / "arm", "armclang", "echo 'Component: Arm Compiler 6.22'")
    bench.builder(toolchain=str(bench.folder / "arm")).build(image(tmp_path, relu()))

    assert "TOOLCHAIN=arm " in bench.log.read_text()


def test_a_failure_of_make_is_quoted_and_leaves_no_image(bench: Bench, tmp_path: Path) -> None:
    bench.make("echo 'ns_core.c:3:1: error: no such thing'; echo 'make: *** [x] Error 1'; exit 2")

    with pytest.raises(BuildError, match="building for apollo4p_evb failed:") as caught:
        bench.builder().build(image(tmp_path, relu()))

    assert "ns_core.c:3:1: error: no such thing" in str(caught.value)
    assert "make: ***" not in str(caught.value)


def test_a_memory_that_overflows_says_by_how_much(bench: Bench, tmp_path: Path) -> None:
    bench.make('echo "ld: region \\`MCU_MRAM\' overflowed by 12345 bytes"; exit 2')

    with pytest.raises(ModelDoesNotFit, match=r"12\.1 KB too large for the memory region MCU_MRAM"):
        bench.builder().build(image(tmp_path, relu()))


def test_paths_that_make_cannot_take_are_refused(bench: Bench, tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=r"cannot work with the path '.*two words") as caught:
        bench.builder(cache=tmp_path / "two words").build(image(tmp_path, relu()))

    assert "--autodeploy-cache" in str(caught.value)


def test_a_runtime_without_a_library_for_the_core_is_refused(bench: Bench, tmp_path: Path) -> None:
    (bench.sdk / "extern/tensorflow/helia_rt_v1_6_0" / CM4).unlink()

    with pytest.raises(TreeError, match="no static library for a cortex-m4f"):
        bench.builder().plan(image(tmp_path, relu()))


def test_psram_is_refused_where_the_sdk_does_not_set_it_up(bench: Bench, tmp_path: Path) -> None:
    with pytest.raises(ModelDoesNotFit, match="cannot hold the arena in PSRAM; it can in DTCM, SR"):
        bench.builder("apollo330mP_evb", arena_memory="psram").plan(image(tmp_path, relu()))
