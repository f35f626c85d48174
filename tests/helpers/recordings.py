"""Recordings of a simulated board, and what is measured of them again."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_autodeploy.base.record_file import MAGIC
from pytest_autodeploy.board.base import Board
from pytest_autodeploy.board.recorded.board import RecordedBoard
from pytest_autodeploy.board.recorded.recordings import Recordings
from pytest_autodeploy.board.simulated import SimulatedBoard
from pytest_autodeploy.catalog.boards import board_spec
from pytest_autodeploy.catalog.kinds import spec_of
from pytest_autodeploy.model.load import load_model
from pytest_autodeploy.power.live import PowerOptions
from pytest_autodeploy.power.measure import PowerMeter
from pytest_autodeploy.power.simulated import SimulatedMeter
from pytest_autodeploy.reference.inputs import random_inputs
from pytest_autodeploy.session.model_session import ModelSession
from tests.helpers.support import DIGITS

RUNS = 5
START = len(MAGIC) + 4
FRAME = struct.Struct("<IBI")

MEASURES = ("outputs", "latency", "profile", "memory", "arena", "energy")


@dataclass(frozen=True)
class Made:
    """A recording, and what was measured while it was made."""

    path: Path
    values: dict[str, Any]


def session_of(board: Board, recordings: Recordings | None = None) -> ModelSession:
    """The digits model on a board, with the inputs of a run by default."""
    model = load_model(DIGITS)
    session = ModelSession(model, board, inputs=random_inputs(model, 10, 42))
    session.recording.to = recordings
    return session


def measured(session: ModelSession, which: Sequence[str] = MEASURES) -> dict[str, Any]:
    """What is measured, by name, in the given order."""
    board: Any = session.board
    meter = PowerMeter(PowerOptions(0.05, 1), lambda _board: SimulatedMeter(board))
    measure: dict[str, Callable[[], Any]] = {
        "outputs": lambda: tuple(out.tobytes() for out in session.run().outputs),
        "latency": lambda: session.latency(RUNS),
        "profile": session.profile,
        "memory": session.memory,
        "arena": session.tune_arena,
        "energy": lambda: [window.energy_j for window in meter.measure(session).windows],
    }
    return {name: measure[name]() for name in which}


def recorded(folder: Path, which: Sequence[str] = MEASURES) -> Made:
    """Record a simulated board."""
    board = SimulatedBoard("sim:apollo4p_evb", board_spec("apollo4p_evb"), timeout_s=60)
    recordings = Recordings(folder, lambda _board: True)
    try:
        values = measured(session_of(board, recordings), which)
    finally:
        board.close()
        recordings.close()
    (path,) = folder.iterdir()
    return Made(path, values)


def recorded_board(path: Path) -> RecordedBoard:
    """The board that answers from a recording."""
    board_id = f"recorded:{path}"
    return RecordedBoard(board_id, spec_of(board_id), path)


def replay(path: Path) -> dict[str, Any]:
    """All that is measured, from a recording."""
    return measured(session_of(recorded_board(path)))


def seal(content: bytes) -> bytes:
    """The content with check sums that fit, as far as it has records."""
    sealed, at = bytearray(content), START
    while at + FRAME.size <= len(sealed):
        length, kind, _ = FRAME.unpack_from(sealed, at)
        payload = bytes(sealed[at + FRAME.size : at + FRAME.size + length])
        if len(payload) < length:
            break
        crc = zlib.crc32(payload, zlib.crc32(struct.pack("<IB", length, kind)))
        FRAME.pack_into(sealed, at, length, kind, crc)
        at += FRAME.size + length
    return bytes(sealed)
