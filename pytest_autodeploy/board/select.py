"""From the name that a user typed to a board."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from pytest_autodeploy.board.makers import learn
from pytest_autodeploy.board.order import Order
from pytest_autodeploy.board.ways import board_of
from pytest_autodeploy.catalog.fit import ARENA_MEMORIES, MODEL_MEMORIES
from pytest_autodeploy.catalog.kinds import KINDS, kind_of, spec_of
from pytest_autodeploy.catalog.links import with_transport
from pytest_autodeploy.catalog.reserve import with_reserves
from pytest_autodeploy.settings.overrides import BOARD, OverrideError, anything, checked, strings
from pytest_autodeploy.settings.settings import SettingError, Settings

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_autodeploy.board.base import Board
    from pytest_autodeploy.catalog.boards import BoardSpec

LOG = logging.getLogger(__name__)

SIM_ARGUMENTS = "sim_arguments"
_ENTRIES = {SIM_ARGUMENTS: strings()}


def make_board(
    board_id: str, settings: Settings, cache: Path | None, options: Mapping[str, Any] | None = None
) -> Board:
    """The board that ``--evb board_id`` names; nothing is started.

    ``cache`` is the folder for built firmware, None the user's own; ``options`` are those of the
    fixture ``evb_options``. Raises UnknownBoard, BrokenKind.
    """
    kind = kind_of(board_id)
    LOG.debug("%s is %s: %s", board_id, kind.noun, kind.runs)
    taken = {key: value for key, value in (options or {}).items() if key in kind.options}
    spec = _spec(board_id, settings)
    return board_of(Order(board_id, spec, settings, cache, taken))


def _spec(board_id: str, settings: Settings) -> BoardSpec:
    """The board's entry with what the settings say otherwise. Raises UnknownBoard."""
    chosen = with_transport(spec_of(board_id), settings.evb_transport)
    return with_reserves(chosen, settings.evb_reserve)


def board_options(board_id: str, options: object) -> dict[str, Any]:
    """What the fixture ``evb_options`` returned for a run, of which this is a board.

    Raises OverrideError for what no kind takes, and for what the simulation does not start with.
    """
    keys = (key for kind in (*KINDS, kind_of(board_id)) for key in kind.options)
    chosen = checked(BOARD, options, {key: _ENTRIES.get(key, anything()) for key in keys})
    if SIM_ARGUMENTS in chosen:
        from pytest_autodeploy.sim.arguments import refusal

        why = refusal(chosen[SIM_ARGUMENTS])
        if why:
            raise OverrideError(
                f"{BOARD}: {SIM_ARGUMENTS}: {why}",
                hint="python -m pytest_autodeploy.sim --help lists what it takes.",
            )
    return chosen


def check_names(names: Iterable[str], settings: Settings) -> None:
    """Check boards without starting one. Raises UnknownBoard, BrokenKind, LabError or SettingError.

    A lab is asked which boards are at its places.
    """
    names = list(names)
    learn(names, settings)
    for board_id in names:
        kind = kind_of(board_id)
        _check_memories(board_id, settings)
        _spec(board_id, settings)
        if settings.evb_require_hardware and not kind.is_hardware:
            raise SettingError(
                f"--evb-require-hardware: {board_id} is not a hardware board"
                f"{', it was ' + kind.recorded if kind.recorded else ''}\n"
                "  Name an EVB, such as --evb apollo4p_evb."
            )
        if settings.evb_record is not None and kind.recorded:
            raise SettingError(
                f"{settings.sources['evb_record']}: {board_id} is a recording already",
                hint="copy its file, or name the board",
            )
        if settings.evb_port is not None and not kind.attachable:
            raise SettingError(
                f"--evb-port: {board_id} is started by this run and has no port",
                hint="leave --evb-port out, or name an EVB, which has one",
            )


def _check_memories(board_id: str, settings: Settings) -> None:
    """See that the memories that were chosen are there. Raises UnknownBoard, SettingError."""
    spec = spec_of(board_id)
    if settings.evb_tflm_memory == "itcm" and not (spec.has_sdk and "itcm" in spec.memories):
        raise SettingError(
            f"{settings.sources['evb_tflm_memory']}: {board_id} has no ITCM for TFLM",
            hint="leave it out, or choose an EVB with ITCM, such as apollo510_evb",
        )
    for name, what, memories in (
        ("evb_model_memory", "model", MODEL_MEMORIES),
        ("evb_arena_memory", "arena", ARENA_MEMORIES),
    ):
        chosen = getattr(settings, name)
        present = [memory for memory in memories if memory in spec.memories]
        if chosen is not None and chosen.lower() not in present:
            raise SettingError(
                f"{settings.sources[name]}: {board_id} has no {chosen.upper()} for the {what}",
                hint=f"Its memories for it are {', '.join(present)}.",
            )
