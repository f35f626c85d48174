"""What the simulated board says of itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pytest_autodeploy.rpc.messages import (
    PROTOCOL_VERSION,
    BoardKind,
    BoardReport,
    Capability,
    ClockMode,
    Identity,
    Placement,
    ResetCause,
)
from pytest_autodeploy.sim.flash import default_build_id, distribution_version

if TYPE_CHECKING:
    from pytest_autodeploy.catalog.boards import BoardSpec
    from pytest_autodeploy.sim.flash import Flash, Memories

MAX_MESSAGE_BYTES = 60_000
WINDOW_BYTES = 256 * 1024
MAX_INVOCATIONS = 256
CAPABILITIES = Capability.LAYER_PROFILE | Capability.POWER_WINDOW | Capability.ANY_TENSOR
CLOCKS = {ClockMode.LOW_POWER: "LP", ClockMode.HIGH_PERFORMANCE: "HP"}
"""The catalog's names of the clock modes."""


def identity_of(
    spec: BoardSpec, flash: Flash | None, clock: ClockMode, events: Sequence[int]
) -> Identity:
    """The identity of a board, but for the session."""
    clocks = spec.clocks_hz
    modes = Capability.CLOCK_MODES if len(clocks) > 1 else Capability(0)
    upload = Capability.MODEL_UPLOAD if flash and flash.loaded else Capability(0)
    return Identity(
        protocol_version=PROTOCOL_VERSION,
        kind=BoardKind.SIMULATED,
        board=spec.name,
        core=spec.core,
        build_id=flash.build_id if flash else default_build_id(),
        model_sha256=flash.sha256 if flash else b"",
        engine="tflm",
        engine_version=distribution_version("tflite-micro"),
        capabilities=CAPABILITIES | modes | upload,
        clock=clock,
        clocks_hz=tuple(clocks.get(name, 0) for name in CLOCKS.values()),
        tick_hz=clocks[CLOCKS[clock]],
        max_message_bytes=MAX_MESSAGE_BYTES,
        window_bytes=WINDOW_BYTES,
        max_invocations=MAX_INVOCATIONS,
        counters=tuple(f"0x{event:04X}" for event in events),
        session=0,
    )


def report_of(
    spec: BoardSpec, memories: Memories, flash: Flash | None, arena_bytes: int, cause: ResetCause
) -> BoardReport:
    """The memories that model and arena would have; without an arena there is no place for it."""
    placements: tuple[Placement, ...] = ()
    if flash:
        where = memories.place(spec, flash.size_bytes, arena_bytes)
        arena = Placement("arena", where.arena_memory.upper(), 0, arena_bytes)
        model = Placement("model", where.model_memory.upper(), 0, flash.size_bytes)
        placements = (arena, model) if arena_bytes else (model,)
    return BoardReport(placements, 0, cause, "", 0)
