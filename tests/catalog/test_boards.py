"""The catalog of boards and the rule of what fits on them."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

from pytest_autodeploy.base.errors import ModelDoesNotFit
from pytest_autodeploy.catalog.boards import (
    CATALOG,
    UnknownBoard,
    board_names,
    board_spec,
    closest,
    read_catalog,
)
from pytest_autodeploy.catalog.entry import CatalogError
from pytest_autodeploy.catalog.fit import Placement, Use, largest_arena, place
from pytest_autodeploy.image.trees import SDK_VARIABLE

BOARDS = (
    "apollo3p_evb",
    "apollo4p_evb",
    "apollo4p_blue_kbr_evb",
    "apollo4p_blue_kxr_evb",
    "apollo4l_evb",
    "apollo4l_blue_evb",
    "apollo510_evb",
    "apollo510b_evb",
    "apollo330mP_evb",
)


def test_the_catalog_has_all_boards() -> None:
    assert board_names() == BOARDS


@pytest.mark.parametrize("name", BOARDS)
def test_every_board_is_complete_and_names_its_sources(name: str) -> None:
    spec = board_spec(name)

    assert {"mram", "sram", "dtcm"} <= spec.memories.keys()
    assert spec.clocks_hz["LP"] < spec.clocks_hz["HP"]
    assert spec.core == ("cortex-m4f" if name.startswith(("apollo3p", "apollo4")) else "cortex-m55")
    assert spec.usb_vid == (0xCAFE if spec.transport == "usb" else 0x1366)
    assert spec.power_pins.keys() == {"in0", "in1", "trigger"}
    assert spec.io_voltage == (3.3 if name == "apollo3p_evb" else 1.8)
    groups = {"board", "power", "clocks_hz", "jlink", "counters"}
    assert spec.sources.keys() == groups | {f"memory.{memory}" for memory in spec.memories}


@pytest.mark.parametrize("name", board_names("machine"))
def test_every_machine_has_memories_and_a_clock_but_nothing_of_a_board(name: str) -> None:
    spec = board_spec(name, "machine")

    assert {"mram", "sram", "psram"} == spec.memories.keys()
    assert spec.clocks_hz.keys() == {"HP"}
    assert (spec.transport, spec.jlink_device, spec.usb_vid) == ("socket", "", 0)
    assert not spec.power_pins
    assert not spec.io_voltage
    assert not spec.counters


def test_boards_and_machines_are_not_taken_for_one_another() -> None:
    with pytest.raises(UnknownBoard, match="unknown board 'mps2-an386'"):
        board_spec("mps2-an386")
    with pytest.raises(UnknownBoard, match="unknown emulated board 'mps2_an386'") as caught:
        board_spec("mps2_an386", "machine")

    assert "Did you mean mps2-an386? Emulated boards: mps2-an386, mps3-an547" in str(caught.value)


def test_figures_that_sources_disagree_on_say_which_was_taken() -> None:
    words = board_spec("apollo3p_evb").disagreements

    assert words.keys() == {"memory.mram", "memory.sram", "clocks_hz", "jlink", "power"}
    assert all("taken" in text for text in words.values())


def test_a_chip_takes_what_it_lacks_from_the_one_it_is_like() -> None:
    lite, plus = board_spec("apollo4l_evb"), board_spec("apollo4p_evb")

    assert lite.memories == plus.memories
    assert lite.disagreements["jlink"] != plus.disagreements["jlink"]


def test_an_unknown_board_is_refused_with_the_one_that_was_meant() -> None:
    with pytest.raises(UnknownBoard, match="Did you mean apollo510_evb") as caught:
        board_spec("Apolo510_EVB")

    assert all(name in str(caught.value) for name in BOARDS)


def test_nothing_is_close_to_nonsense() -> None:
    assert closest("zzz") is None


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("bytes = 1_998_848", "", r"soc\.apollo4p\.memory\.mram: bytes is missing"),
        ("bytes = 1_998_848", 'bytes = "2 MB"', "bytes is '2 MB', not a whole number"),
        ("bytes = 1_998_848", "bytes = 10", "reserved leaves nothing"),
        ("[soc.apollo4p.memory.dtcm]", "[soc.apollo4p.memory.tcm]", "unknown memory tcm"),
        ('core = "cortex-m55"', 'core = "cortex-m7"', "core is 'cortex-m7', not one of"),
        ('soc = "apollo4p"', 'soc = "apollo9"', "soc is 'apollo9', not one of"),
        (
            "io_voltage = 3.3",
            "io_voltage = 3.2",
            r"apollo3p_evb\.power: io_voltage is 3.2, not one",
        ),
        ("io_voltage = 3.3", 'io_voltage = "3.3"', "io_voltage is '3.3', not a number"),
        ("io_voltage = 3.3", "", r"apollo3p_evb\.power: io_voltage is missing"),
        ("trigger = 14", "trigger = -1", r"board\.apollo510_evb\.power: trigger is -1"),
        ('title = "Apollo510 EVB"', 'title = ""', r"board\.apollo510_evb: title is empty"),
        ('"INST_RETIRED"', "1", "names is not a list of strings"),
    ],
)
def test_a_faulty_entry_is_named(old: str, new: str, complaint: str) -> None:
    text = CATALOG.read_text(encoding="utf-8")
    assert old in text

    with pytest.raises(CatalogError, match=complaint):
        read_catalog(text.replace(old, new, 1))


def test_model_goes_to_mram_and_a_small_arena_to_dtcm() -> None:
    assert place(board_spec("apollo4p_evb"), 50_000, 30_000) == Placement("mram", "dtcm", 30_000)


def test_an_arena_that_exceeds_dtcm_goes_to_sram() -> None:
    assert place(board_spec("apollo4p_evb"), 50_000, 300_000) == Placement("mram", "sram", 300_000)


def test_without_a_size_the_arena_is_the_largest_on_the_chip() -> None:
    spec = board_spec("apollo510_evb")

    assert place(spec, 50_000) == Placement("mram", *largest_arena(spec))
    assert largest_arena(spec)[0] == "sram"


def test_the_largest_arena_is_aligned_as_tflm_wants_it() -> None:
    assert all(largest_arena(board_spec(name))[1] % 16 == 0 for name in BOARDS)


def test_memories_that_are_not_allowed_are_not_taken() -> None:
    spec = board_spec("apollo510_evb")

    assert place(spec, 50_000, 30_000, arena_memories=["sram"]).arena_memory == "sram"
    assert place(spec, 50_000, arena_memories=["psram"]).arena_memory == "psram"
    with pytest.raises(ModelDoesNotFit, match="apollo3p_evb has no PSRAM for the model"):
        place(board_spec("apollo3p_evb"), 50_000, model_memories=["psram"])


def test_copies_of_the_inputs_leave_less_for_the_arena() -> None:
    spec = board_spec("apollo510_evb")
    whole, rest = place(spec, 50_000), place(spec, 50_000, buffer_bytes=16_000)

    assert whole.arena_bytes - rest.arena_bytes == 16_000


def test_inputs_that_fill_the_memory_leave_no_arena() -> None:
    spec = board_spec("mps2-an386", "machine")

    with pytest.raises(ModelDoesNotFit, match=r"arena .* \+ inputs 4,096\.0 KB > SRAM 4,096\.0 KB"):
        place(spec, 50_000, buffer_bytes=4 << 20)


def test_psram_takes_what_the_chip_cannot_hold() -> None:
    assert place(board_spec("apollo510_evb"), 5_000_000, 4_000_000) == Placement(
        "psram", "psram", 4_000_000, model_loaded=True
    )


def test_a_model_in_sram_leaves_less_for_the_arena() -> None:
    spec = board_spec("apollo330mP_evb")
    model = spec.memories["sram"].usable + 1

    assert place(spec, model).model_memory == "mram"
    assert largest_arena(spec, [Use("model", "sram", 1_000_000)])[1] <= 468_016


def test_a_model_that_does_not_fit_is_refused_with_the_sums() -> None:
    with pytest.raises(ModelDoesNotFit) as caught:
        place(board_spec("apollo4p_evb"), 3_000_000)

    assert "model 2,929.7 KB + reserved 390.4 KB > MRAM 1,952.0 KB" in str(caught.value)
    assert "> SRAM 1,024.0 KB" in str(caught.value)


def test_an_arena_that_does_not_fit_is_refused_with_the_sums() -> None:
    with pytest.raises(ModelDoesNotFit) as caught:
        place(board_spec("apollo3p_evb"), 10_000, 600_000)

    assert "arena 585.9 KB > DTCM 64.0 KB" in str(caught.value)
    assert "arena 585.9 KB + reserved 139.0 KB > SRAM 695.0 KB" in str(caught.value)


@pytest.mark.skipif(SDK_VARIABLE not in os.environ, reason=f"{SDK_VARIABLE} is not set")
@pytest.mark.parametrize("name", board_names())
def test_a_power_pin_that_is_the_boards_swo_pin_is_known(name: str) -> None:
    """A probe that traces over SWO would drive it."""
    spec = board_spec(name)
    bsp = Path(os.environ[SDK_VARIABLE], "extern/AmbiqSuite", spec.ambiqsuite, "boards", name)
    pins = (bsp / "bsp" / "am_bsp_pins.h").read_text(errors="replace")
    swo = re.findall(r"#define\s+AM_BSP_GPIO_ITM_SWO\s+(\d+)", pins)
    known = "is the SWO pin" in spec.disagreements.get("power", "")
    used = {*spec.power_pins.values(), *spec.app_pins.values()}
    assert (bool({*map(int, swo)} & used)) == known


def test_model_and_arena_share_a_memory_and_its_room() -> None:
    spec = board_spec("apollo4p_evb")
    room = spec.memories["sram"].usable
    most = room // 2
    both: dict[str, Any] = {"model_memories": ["sram"], "arena_memories": ["sram"]}
    assert place(spec, most, room - most, **both) == Placement("sram", "sram", room - most)
    with pytest.raises(ModelDoesNotFit, match=r"the arena does not fit: .* model "):
        place(spec, most, room - most + 1, **both)
    with pytest.raises(ModelDoesNotFit, match="the arena does not fit"):
        place(spec, round(0.8 * room), round(0.8 * room), **both)


def test_a_likely_arena_that_fills_a_memory_goes_there() -> None:
    spec = board_spec("apollo4p_evb")
    room = spec.memories["dtcm"].usable
    assert place(spec, 50_000, likely_arena_bytes=room).arena_memory == "dtcm"
    assert place(spec, 50_000, likely_arena_bytes=room + 1).arena_memory == "sram"
    assert place(board_spec("apollo510_evb"), 50_000, likely_arena_bytes=4 << 20).arena_memory == (
        "sram"  # psram has room for it, and is slow
    )


def test_the_least_arena_is_one_step_of_its_alignment() -> None:
    spec = board_spec("apollo4p_evb")
    room = largest_arena(spec, (), ["sram"])[1]
    assert largest_arena(spec, [Use("model", "sram", room - 16)], ["sram"]) == ("sram", 16)
    with pytest.raises(ModelDoesNotFit):
        largest_arena(spec, [Use("model", "sram", room)], ["sram"])
