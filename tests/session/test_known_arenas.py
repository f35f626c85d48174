"""What earlier runs found of arenas is where the next search starts, and never its result."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_autodeploy.model.parse import parse
from pytest_autodeploy.session.known_arenas import KnownArenas
from pytest_autodeploy.session.model_session import ModelSession
from tests.helpers import tflite_builder as build
from tests.helpers.diverging_board import session_on


@pytest.fixture(scope="module")
def session() -> Iterator[ModelSession]:
    with session_on(parse(Path("m.tflite"), build.fully_connected())) as opened:
        yield opened


def test_a_second_run_needs_two_tries_and_finds_the_same(
    session: ModelSession, tmp_path: Path
) -> None:
    session.known_arenas = KnownArenas(tmp_path / "arenas")
    first = session.tune_arena()
    session.known_arenas = KnownArenas(tmp_path / "arenas")
    second = session.tune_arena()
    assert first.tries > second.tries == 2
    assert (second.arena_bytes, second.exact) == (first.arena_bytes, True)


def test_another_board_is_likely_to_need_as_much_more_than_it_uses(session: ModelSession) -> None:
    known = KnownArenas()
    known.keep("a" * 64, session.identity, 700, 1_100)
    other = replace(session.identity, core="cortex-m99")
    assert known.guess("a" * 64, session.identity, 700) == 1_100
    assert known.guess("a" * 64, other, 500) == 900
    assert known.guess("b" * 64, session.identity, 700) == 700


@pytest.mark.parametrize("lie", [16, 100_000, 1 << 31])
def test_a_wrong_memory_costs_tries_and_no_more(
    session: ModelSession, tmp_path: Path, lie: int
) -> None:
    session.known_arenas = KnownArenas()
    truth = session.tune_arena()
    session.known_arenas = KnownArenas()
    used = session.state.arena_used_bytes
    session.known_arenas.keep(session.model.sha256, session.identity, used, lie)
    found = session.tune_arena()
    assert (found.arena_bytes, found.exact) == (truth.arena_bytes, True)


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"[]", b"{", b'{"x": 3}', b'{"x": [1, -2]}', b'{"x": [NaN, 1]}', b"\xff"),
        *(b'{"x": [1e999, 1]}', b'{"x": [1, 99999999999999]}', b'{"x": ["a", []]}', b"[" * 50_000),
    ],
)
def test_a_damaged_file_is_no_memory(session: ModelSession, tmp_path: Path, content: bytes) -> None:
    (tmp_path / f"{'a' * 64}.json").write_bytes(content)
    assert KnownArenas(tmp_path).guess("a" * 64, session.identity, 700) == 700


def test_a_folder_that_cannot_be_written_remembers_within_the_run(
    session: ModelSession, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    known = KnownArenas(tmp_path / "file" / "arenas")
    known.keep("a" * 64, session.identity, 700, 1_100)
    assert known.guess("a" * 64, session.identity, 700) == 1_100


KEY = "a" * 64


def file_of(folder: Path, content: object) -> Path:
    (folder / f"{KEY}.json").write_text(json.dumps(content))
    return folder


@pytest.mark.parametrize(("least", "guess"), [((1 << 32) - 1, (1 << 32) - 1), (1 << 32, 700)])
def test_a_size_of_four_gigabytes_is_no_arena(
    session: ModelSession, tmp_path: Path, least: int, guess: int
) -> None:
    known = KnownArenas(file_of(tmp_path, {"elsewhere": [700, least]}))
    assert known.guess(KEY, session.identity, 700) == guess


def test_a_guess_is_never_below_zero(session: ModelSession, tmp_path: Path) -> None:
    known = KnownArenas(file_of(tmp_path, {"elsewhere": [9_000, 16]}))
    assert known.guess(KEY, session.identity, 700) == 0
    assert KnownArenas(file_of(tmp_path, {"x": [0, 0]})).guess(KEY, session.identity, 700) == 700


def test_of_other_boards_the_latest_counts(session: ModelSession) -> None:
    known = KnownArenas()
    one, other, third = (replace(session.identity, core=f"core{n}") for n in range(3))
    known.keep(KEY, one, 700, 1_000)
    known.keep(KEY, other, 700, 2_000)
    assert known.guess(KEY, third, 700) == 2_000
    known.keep(KEY, one, 700, 1_000)  # the same again is the latest, too
    assert known.guess(KEY, third, 700) == 1_000
    assert known.guess(KEY, other, 700) == 2_000


def test_what_is_known_already_is_not_written_again(session: ModelSession, tmp_path: Path) -> None:
    known = KnownArenas(tmp_path)
    known.keep(KEY, session.identity, 700, 1_000)
    (file,) = tmp_path.iterdir()
    file.unlink()
    known.keep(KEY, session.identity, 700, 1_000)
    assert list(tmp_path.iterdir()) == []
    known.keep(KEY, session.identity, 700, 1_016)
    assert KnownArenas(tmp_path).guess(KEY, session.identity, 700) == 1_016
