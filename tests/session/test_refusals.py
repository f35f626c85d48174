"""A board's refusals: the many ways to say "too small" are one error with the option that mends."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_autodeploy.base.errors import BoardRefused
from pytest_autodeploy.catalog.boards import board_spec
from pytest_autodeploy.image.image import Image
from pytest_autodeploy.model.parse import parse
from pytest_autodeploy.session.refusals import ArenaTooSmall, explained, means_too_small
from tests.helpers import tflite_builder as build
from tests.helpers.diverging_board import session_on

MODEL = parse(Path("m.tflite"), build.fully_connected())


def refused(status: str, words: str, arena_bytes: int = 0, board: str = "apollo4p_evb") -> str:
    error = BoardRefused("configure", status=status, text=words, board=f"sim:{board}")
    found = explained(error, Image(MODEL, arena_bytes), board_spec(board))
    assert isinstance(found, ArenaTooSmall)
    assert found.status == "NO_MEMORY"
    return str(found)


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ("NO_MEMORY", "an arena of 512 bytes is too small for the model"),
        ("BAD_MODEL", "TFLM says: Too many buffers (max is 13)"),
        ("BAD_MODEL", "TFLM says: Failed to allocate memory. Requested: 90400, missing 90376"),
        ("INTERNAL_ERROR", "the engine crashed: an arena of 256 bytes is too small"),
    ],
)
def test_every_way_to_say_too_small_is_one_error(status: str, words: str) -> None:
    text = refused(status, words, arena_bytes=2048)
    assert "the tensor arena is too small for m" in text
    assert words in text
    assert "--evb-arena-kb" in text


def test_another_memory_with_room_is_proposed() -> None:
    text = refused("NO_MEMORY", "too small", board="apollo510_evb")
    assert "PSRAM has room: --evb-arena-memory psram --evb-arena-kb" in text


def test_without_more_room_other_boards_are_proposed() -> None:
    text = refused("NO_MEMORY", "too small", board="apollo3p_evb")
    assert "is the most that apollo3p_evb has" in text


def test_an_inference_that_fails_is_no_matter_of_memory() -> None:
    words = "TFLM says: Input type UINT8 (3) not supported; Node CAST (number 0) failed to invoke"
    error = BoardRefused("invoke", status="INVOKE_FAILED", text=words, board="sim:x")
    found = explained(error, Image(MODEL, 0), board_spec("apollo4p_evb"))
    assert not isinstance(found, ArenaTooSmall)
    assert "TFLM refuses to run m: " in str(found)
    assert "no arena changes that" in str(found)


def test_a_model_that_never_runs_has_the_same_verdict_from_every_call_and_no_tuned_arena() -> None:
    model = parse(Path("cast.tflite"), build.uint8_cast())
    with session_on(model) as session:
        said = set()
        for call in (session.tune_arena, session.run, session.latency, session.profile):
            with pytest.raises(BoardRefused, match=r"TFLM refuses to run cast: .*UINT8") as raised:
                call()
            said.add(str(raised.value))
        assert len(said) == 1
        assert session.measured.arena is None


def test_the_tuned_arena_is_the_smallest_to_16_bytes() -> None:
    with session_on(MODEL) as session:
        tuned = session.tune_arena()
        assert tuned.exact
        assert session.state.arena_used_bytes <= tuned.arena_bytes
        for arena_bytes, runs in ((tuned.arena_bytes, True), (tuned.arena_bytes - 16, False)):
            session.prepare(session.inputs, arena_bytes=arena_bytes)
            if runs:
                session.run()
            else:
                with pytest.raises(ArenaTooSmall):
                    session.run()


@pytest.mark.parametrize("arena_bytes", [16, 448, 1_000])
def test_a_crash_in_a_tiny_arena_is_a_refusal(arena_bytes: int) -> None:
    with session_on(MODEL) as session:
        session.prepare(session.inputs, arena_bytes=arena_bytes)
        with pytest.raises(ArenaTooSmall, match=f"{arena_bytes} bytes is too small"):
            session.run()
        session.prepare(session.inputs)
        session.run()


@pytest.mark.parametrize(
    ("status", "words", "too_small"),
    [
        ("NO_MEMORY", "", True),
        ("BAD_MODEL", "TFLM says: Too many buffers (max is 13)", True),
        ("BAD_MODEL", "missing: 16", True),
        ("BAD_MODEL", "missing operator CAST", False),
        ("BAD_MODEL", "Didn't find op for builtin opcode", False),
        ("INVOKE_FAILED", "arena size is too small", False),
        ("UNSUPPORTED", "", False),
    ],
)
def test_only_want_of_memory_means_too_small(status: str, words: str, too_small: bool) -> None:
    assert means_too_small(status, words) is too_small


def test_a_refusal_of_another_kind_stays_as_it_is() -> None:
    error = BoardRefused("set_clock", status="UNSUPPORTED", text="no", board="sim:x")
    assert explained(error, Image(MODEL, 0), board_spec("apollo4p_evb")) is error


def test_a_given_arena_is_to_be_made_larger_and_the_largest_is_not() -> None:
    assert "give more than 2.00 KB with --evb-arena-kb" in refused("NO_MEMORY", "", 2048)
    assert "give more than" not in refused("NO_MEMORY", "")
