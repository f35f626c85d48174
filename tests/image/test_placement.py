"""Where model and arena go is decided once, by one rule."""

from __future__ import annotations

import pytest

from pytest_autodeploy.board.inspection import inspect_model
from pytest_autodeploy.catalog.boards import board_names, board_spec
from pytest_autodeploy.deliver.sources import Sources
from pytest_autodeploy.image.image import Image
from pytest_autodeploy.image.recipe import decide
from pytest_autodeploy.model.arena import likely_arena_bytes
from pytest_autodeploy.model.load import load_model
from tests.helpers.deliver_builds import characterization
from tests.helpers.support import DIGITS

MODEL = load_model(DIGITS)


@pytest.mark.parametrize("name", board_names())
def test_firmware_library_and_inspection_agree(name: str) -> None:
    spec = board_spec(name)
    placed = decide(Image(MODEL), spec)
    sources = Sources(characterization(MODEL), MODEL, spec)
    (fit,) = [each for each in inspect_model(MODEL).boards if each.board == name]
    assert placed.arena_memory == "dtcm"
    assert sources.placement.arena_memory == fit.arena_memory == placed.arena_memory
    assert sources.placement.model_memory == fit.model_memory == placed.model_memory


def test_an_arena_that_is_not_likely_to_fit_goes_to_sram() -> None:
    spec = board_spec("apollo3p_evb")
    assert likely_arena_bytes(MODEL) < spec.memories["dtcm"].usable
    assert decide(Image(MODEL, 70_000), spec).arena_memory == "sram"
    assert decide(Image(MODEL, roomy=True), spec).arena_memory == "sram"


def test_the_memory_that_is_wanted_is_taken_for_the_library_and_the_validator_alike() -> None:
    from pytest_autodeploy.deliver import apps

    spec = board_spec("apollo4p_evb")
    sources = Sources(characterization(MODEL), MODEL, spec, arena_memory="sram")
    validator = str(apps.validator(sources)["src/autodeploy_config.h"])
    assert '#define AUTODEPLOY_ARENA_PLACE __attribute__((section(".sram_bss")))' in validator
    assert ".sram_bss" in sources.library()["digits_cnn_model.cc"]


def test_an_arena_in_the_fast_memory_of_an_apollo3_takes_no_flash() -> None:
    """Its linker script stores what is there, unless all of it is without content."""
    sources = Sources(characterization(MODEL), MODEL, board_spec("apollo3p_evb"))
    text = sources.library()["digits_cnn_model.cc"]
    assert '#define AUTODEPLOY_NOBITS ",\\"aw\\",%nobits @"' in text
    assert '__attribute__((section(".tcm.arena" AUTODEPLOY_NOBITS)))' in text
