"""A model or an arena outside of the chip: where it is linked, and how firmware starts it."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_autodeploy.base.errors import ModelDoesNotFit
from pytest_autodeploy.base.templates import render
from pytest_autodeploy.catalog.boards import board_names, board_spec
from pytest_autodeploy.catalog.fit import Placement
from pytest_autodeploy.deliver.placement import place_deliverable
from pytest_autodeploy.image.errors import BuildError
from pytest_autodeploy.image.image import Image
from pytest_autodeploy.image.neuralspot import BUFFERS
from pytest_autodeploy.image.recipe import Recipe, decide, make_recipe
from pytest_autodeploy.image.sources import generate, write_sources
from pytest_autodeploy.image.trees import SDK_VARIABLE
from pytest_autodeploy.model.graph import Model
from pytest_autodeploy.model.load import load_model
from tests.helpers.deliver_builds import characterization
from tests.helpers.emulation import image, needs_compiler
from tests.helpers.fake_tools import fake_program
from tests.helpers.firmware_support import FIRMWARE, needs
from tests.helpers.neuralspot_bench import Bench
from tests.helpers.support import DIGITS
from tests.helpers.tflite_builder import relu

MODEL = load_model(DIGITS)
LARGE = replace(MODEL, content=bytes(3_400_000))
BUILD_ID = "0123456789abcdef"
APOLLO510 = """
MEMORY { MRAM (rx) : ORIGIN = 0x00410000, LENGTH = 4128768
         TCM (rwx) : ORIGIN = 0x20000000, LENGTH = 507904
         SRAM (rwx) : ORIGIN = 0x20080000, LENGTH = 3145728 }
SECTIONS { .text : { KEEP(*(.text*)) *(.rodata*) } > MRAM
           .data : { *(.data*) } > TCM AT > MRAM
           .bss : { *(.bss*) } > TCM
           .sram_bss (NOLOAD) : { *(.sram_bss*) } > SRAM
           .shared : { *(.shared) } > SRAM AT > MRAM }
"""
PROGRAM = """
#include "autodeploy_config.h"
namespace autodeploy { extern const unsigned char *const kModelData; }
alignas(16) AUTODEPLOY_ARENA_PLACE unsigned char arena[autodeploy::config::kArenaMaxBytes];
namespace autodeploy {
alignas(16) AUTODEPLOY_MODEL_PLACE unsigned char loaded_model[config::kUploadBytes + 1];
}
extern "C" void Reset_Handler() { arena[0] = autodeploy::kModelData[0]; while (true) {} }
"""
MRAM = range(0x41_0000, 0x80_0000)
TCM = range(0x2000_0000, 0x2008_0000)
SRAM = range(0x2008_0000, 0x2038_0000)
PSRAM = range(0x6000_0000, 0x6200_0000)
NVM = range(0x8000_0000, 0x8080_0000)
Place = tuple[dict[str, str], str, range, range]


def recipe(model: Model = MODEL, arena_bytes: int = 0, /, **memories: str) -> Recipe:
    return make_recipe(
        Image(model, arena_bytes),
        board_spec("apollo510_evb"),
        engine="tflm",
        engine_version="v",
        buffers=BUFFERS,
        **memories,
    )


def linked(folder: Path, made: Recipe, script: Path) -> tuple[dict[str, int], int]:
    """Addresses by name in a program with the sources of a recipe, and the size of its image."""
    sources = generate(made, BUILD_ID)
    write_sources(folder, {**sources, "program.cc": PROGRAM})
    module = {**made.context, "name": "n", "firmware": "f", "generated": "g", "sources": ["s"]}
    flags = re.findall(r"-Wl,--section-start=\S+", render("module.mk", module))
    axf, raw = folder / "program.axf", folder / "program.bin"
    core = ["-mthumb", "-mcpu=cortex-m55", "-nostdlib", "-fno-exceptions"]
    link = ["-Wl,--gc-sections,--entry,Reset_Handler", f"-Wl,-T,{script}", *flags]
    files = [str(folder / name) for name in ("program.cc", "model_data.cc")]
    _run("arm-none-eabi-g++", *core, "-std=c++17", "-ffunction-sections", "-fdata-sections",
         "-O1", *link, *files, "-o", str(axf))  # fmt: skip
    _run("arm-none-eabi-objcopy", "-Obinary", str(axf), str(raw))
    lines = _run("arm-none-eabi-nm", "-C", str(axf)).splitlines()
    names = {line.split()[-1].rpartition("::")[2]: int(line.split()[0], 16) for line in lines}
    return names, raw.stat().st_size


def _run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout


PLACES: list[Place] = [
    ({}, "model_image", MRAM, TCM),
    ({"model_memory": "dtcm"}, "model_image", TCM, TCM),
    ({"model_memory": "sram", "arena_memory": "sram"}, "model_image", SRAM, SRAM),
    ({"arena_memory": "psram"}, "model_image", MRAM, PSRAM),
    ({"model_memory": "psram"}, "model_place", PSRAM, TCM),
    ({"model_memory": "psram", "arena_memory": "psram"}, "model_place", PSRAM, PSRAM),
    ({"model_memory": "nvm"}, "model_place", NVM, TCM),
]


def check_linked(folder: Path, script: Path, place: Place) -> None:
    memories, symbol, model, arena = place
    names, image_bytes = linked(folder, recipe(**memories), script)
    assert names[symbol] in model
    assert names["arena"] in arena
    assert image_bytes < MODEL.size_bytes + 8192  # nothing of an arena, the model once


@needs_compiler
@pytest.mark.parametrize("place", PLACES, ids=lambda place: str(place[0]))
def test_model_and_arena_lie_where_they_were_asked_for(tmp_path: Path, place: Place) -> None:
    script = tmp_path / "apollo510.ld"
    script.write_text(APOLLO510)
    check_linked(tmp_path / "sources", script, place)


@needs_compiler
@pytest.mark.skipif(SDK_VARIABLE not in os.environ, reason=f"{SDK_VARIABLE} is not set")
@pytest.mark.parametrize("place", PLACES, ids=lambda place: str(place[0]))
def test_model_and_arena_lie_there_with_the_sdk_s_own_linker_script(
    tmp_path: Path, place: Place
) -> None:
    check_linked(tmp_path / "sources", sdk_script(), place)


def sdk_script() -> Path:
    core = Path(os.environ[SDK_VARIABLE], "neuralspot", "ns-core", "src", "apollo510", "gcc")
    return core / "linker_script_sbl.ld"


@needs("c++")
@pytest.mark.parametrize("memory", ["psram", "nvm"])
def test_the_firmware_starts_it_and_says_why_it_cannot(tmp_path: Path, memory: str) -> None:
    """On this PC, against stand-ins of the SDK's functions."""
    _run_external(tmp_path, recipe(model_memory=memory))


def _run_external(tmp_path: Path, made: Recipe) -> None:
    write_sources(tmp_path / "sources", generate(made, BUILD_ID))
    tests = FIRMWARE / "tests" / "external"
    sources = (tests / "external_tests.cc", FIRMWARE / "boards" / "ambiq" / "external.cc")
    includes = [f"-I{path}" for path in (FIRMWARE, tests / "stand_in", tmp_path / "sources")]
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsanitize=address,undefined"]
    program = tmp_path / "tests"
    _run("c++", *flags, *includes, *map(str, sources), "-o", str(program))
    done = subprocess.run([program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("board", board_names())
@pytest.mark.parametrize("memory", ["psram", "nvm"])
def test_what_the_sdk_has_no_driver_for_is_refused_with_what_there_is(
    board: str, memory: str
) -> None:
    if board.startswith("apollo510"):
        assert decide(Image(MODEL), board_spec(board), model_memory=memory).model_memory == memory
        return
    with pytest.raises(ModelDoesNotFit, match=f"cannot hold the model in {memory.upper()}; it can"):
        decide(Image(MODEL), board_spec(board), model_memory=memory)


@pytest.mark.parametrize("board", board_names())
def test_the_model_may_be_in_the_fast_memory_of_every_board(board: str) -> None:
    assert decide(Image(MODEL), board_spec(board), model_memory="dtcm").model_memory == "dtcm"


def test_psram_and_nvm_in_one_program_are_refused() -> None:
    with pytest.raises(ModelDoesNotFit, match="PSRAM and NVM in one program"):
        recipe(model_memory="nvm", arena_memory="psram")


def test_a_large_arena_goes_outside_by_itself() -> None:
    spec = board_spec("apollo510_evb")
    assert decide(Image(MODEL, 4_000_000), spec).arena_memory == "psram"


@pytest.mark.parametrize("memory", [None, "psram"])
def test_a_model_that_the_image_has_no_room_for_is_loaded_into_psram(memory: str | None) -> None:
    placement = decide(Image(LARGE, 4096), board_spec("apollo510_evb"), model_memory=memory)
    assert placement == Placement("psram", "dtcm", 4096, model_loaded=True)
    assert not decide(Image(MODEL), board_spec("apollo510_evb"), model_memory="psram").model_loaded


@pytest.mark.parametrize(("board", "memory"), [
    ("apollo4p_evb", None),
    ("apollo330mP_evb", None),  # neuralSPOT has no driver of its PSRAM
    ("apollo510_evb", "nvm"),  # which is written from the image
    ("apollo510_evb", "sram"),
    ("apollo510_evb", "mram"),
])  # fmt: skip
def test_a_model_larger_than_the_image_is_refused_where_psram_cannot_take_it(
    board: str, memory: str | None
) -> None:
    with pytest.raises(ModelDoesNotFit, match=r"model 3,320\.3 KB .*> MRAM") as caught:
        decide(Image(LARGE, 4096), board_spec(board), model_memory=memory)
    loadable = board == "apollo510_evb"
    assert ("the host loads it into PSRAM" in (caught.value.hint or "")) is loadable


def test_a_model_larger_than_psram_is_refused_with_both_sums() -> None:
    huge = replace(MODEL, content=bytes(34_000_000))
    sums = r"> MRAM .*; model 33,203\.1 KB > PSRAM 32,168\.0 KB"
    with pytest.raises(ModelDoesNotFit, match=sums):
        decide(Image(huge), board_spec("apollo510_evb"))


def loading_recipe(model: Model = LARGE, **memories: str) -> Recipe:
    return recipe(model, 4096, **memories)


def test_the_image_of_a_model_that_is_loaded_depends_on_its_size_and_not_on_its_bytes() -> None:
    other = replace(LARGE, content=b"\1" * len(LARGE.content), sha256="ab" * 32, name="other")
    longer = replace(LARGE, content=bytes(len(LARGE.content) + 16))
    sources = generate(loading_recipe(), BUILD_ID)
    assert loading_recipe(other).context == loading_recipe().context
    assert generate(loading_recipe(other), BUILD_ID) == sources
    assert loading_recipe(longer).context != loading_recipe().context
    assert MODEL.name not in "".join(sources.values())
    assert len("".join(sources.values())) < 10_000


@needs_compiler
@pytest.mark.parametrize(("arena", "place"), [("dtcm", TCM), ("psram", PSRAM)])
@pytest.mark.parametrize("own", [False, True], ids=["", "with the SDK's own linker script"])
def test_the_place_of_a_model_that_is_loaded_is_in_psram_and_not_in_the_image(
    tmp_path: Path, arena: str, place: range, own: bool
) -> None:
    script = tmp_path / "apollo510.ld"
    script.write_text(APOLLO510)
    if own and SDK_VARIABLE not in os.environ:
        pytest.skip(f"{SDK_VARIABLE} is not set")
    made = loading_recipe(arena_memory=arena)
    names, image_bytes = linked(tmp_path / "s", made, sdk_script() if own else script)
    assert names["loaded_model"] in PSRAM
    assert names["arena"] in place
    assert image_bytes < 8192  # nothing of a model of 3.4 MB


@needs("c++")
def test_the_firmware_starts_psram_for_a_model_that_the_host_loads(tmp_path: Path) -> None:
    _run_external(tmp_path, loading_recipe())


def test_a_library_starts_no_memory() -> None:
    spec = board_spec("apollo510_evb")
    found = characterization(MODEL)
    for memories in ({"model_memory": "psram"}, {"arena_memory": "psram"}, {"model_memory": "nvm"}):
        with pytest.raises(ModelDoesNotFit, match="a library cannot have its") as caught:
            place_deliverable(MODEL, spec, found, 4096, **memories)
        assert "init()" in str(caught.value.hint)
    with pytest.raises(ModelDoesNotFit, match="the arena does not fit"):
        place_deliverable(MODEL, spec, found, 4_000_000)
    with pytest.raises(ModelDoesNotFit, match=r"cannot be delivered .* load it over the") as caught:
        place_deliverable(LARGE, spec, found, 4096)
    assert "make the model smaller" in str(caught.value.hint)


def test_armclang_has_no_place_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(tmp_path, monkeypatch)
    fake_program(tmp_path / "arm", "armclang", "echo 'Component: Arm Compiler 6.22'")
    options = {"toolchain": str(tmp_path / "arm"), "arena_memory": "psram"}
    with pytest.raises(BuildError, match="no place for data in PSRAM"):
        bench.builder("apollo510_evb", **options).plan(image(tmp_path, relu()))
