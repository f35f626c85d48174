"""The lines of pytest's header: which boards will answer, and where the settings came from."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_autodeploy.base.measurement import UNPROVEN, Source
from pytest_autodeploy.catalog.kinds import kind_of
from pytest_autodeploy.settings.settings import Settings

_SOURCES: Mapping[Source, str] = {
    "modelled": ": figures are modelled, not measured",
    "emulated": ": times are counts of instructions, not measured",
    UNPROVEN: f": {UNPROVEN}",
}


def header_lines(settings: Settings) -> list[str]:
    """One line for each board, one for the settings that are not at their defaults."""
    lines = [
        f"autodeploy: {_board(board_id, settings)}" for board_id in dict.fromkeys(settings.evb)
    ]
    set_by = (f"{name} ({source})" for name, source in settings.sources.items())
    return [*lines, f"autodeploy: settings: {', '.join(set_by)}"]


def _board(board_id: str, settings: Settings) -> str:
    kind = kind_of(board_id)
    boards = settings.rig.of(board_id) if settings.rig else ()
    names = ", ".join(board.name for board in boards)
    port = settings.evb_port or "opened when it is first used"
    source = UNPROVEN if settings.evb_dialect == "stock" else kind.source
    at = (f"; rig: {names}" if names else f"; port {port}") if kind.attachable else ""
    recorded = f"; {kind.recorded}" if kind.recorded else ""
    return f"{board_id}, {kind.name}{_SOURCES.get(source, '')}{at}{recorded}"
