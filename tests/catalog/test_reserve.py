"""``--evb-reserve``: what of a board's memories is kept for firmware and system."""

from __future__ import annotations

import pytest

from pytest_autodeploy.catalog.boards import UnknownBoard, board_spec
from pytest_autodeploy.catalog.reserve import Reserve, parse_reserves, with_reserves
from pytest_autodeploy.settings.options import OPTIONS

SPEC = board_spec("apollo4p_evb")


@pytest.mark.parametrize(
    ("text", "reserve"),
    [
        ("10%", Reserve(10, 0)),
        ("85kb", Reserve(0, 85 * 1024)),
        ("20%+85KB", Reserve(20, 85 * 1024)),
        ("0%", Reserve()),
    ],
)
def test_sizes_are_shares_and_kilobytes(text: str, reserve: Reserve) -> None:
    assert parse_reserves(f"sram={text}") == (("sram", reserve),)
    assert parse_reserves(f"sram={reserve}") == (("sram", reserve),)


@pytest.mark.parametrize(
    "text",
    ["", "sram", "sram=", "sram=10", "sram=-1%", "flash=10%", "sram=96%", "sram=1%,sram=2%", "=1%"],
)
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not|leaves too little"):
        parse_reserves(text)


def test_the_usual_reserve_of_the_catalog_can_be_written_so() -> None:
    again = with_reserves(SPEC, parse_reserves("sram=20%+85kb,dtcm=150kb,mram=20%"))
    for name in ("sram", "dtcm", "mram"):
        assert abs(again.memories[name].reserved - SPEC.memories[name].reserved) <= 1


def test_a_reserve_replaces_that_of_the_catalog_alone() -> None:
    changed = with_reserves(SPEC, parse_reserves("dtcm=8kb"))
    assert changed.memories["dtcm"].usable == SPEC.memories["dtcm"].bytes - 8 * 1024
    assert changed.memories["sram"] == SPEC.memories["sram"]


@pytest.mark.parametrize(
    ("text", "words"), [("psram=1kb", "has no PSRAM"), ("dtcm=384kb", "leaves nothing of the 384")]
)
def test_what_a_board_cannot_reserve_is_told(text: str, words: str) -> None:
    with pytest.raises(UnknownBoard, match=words):
        with_reserves(SPEC, parse_reserves(text))


def test_help_of_memories_says_that_boards_differ() -> None:
    helps = {option.name: option.help for option in OPTIONS}
    for name in ("evb_model_memory", "evb_arena_memory"):
        assert "where the board and its linker script have it" in helps[name]
