"""The lines of pytest's header: which boards will answer, and where the settings came from."""

from __future__ import annotations

from pytest_autodeploy.settings.settings import Settings


def header_lines(settings: Settings) -> list[str]:
    """One line for each board, one for the settings that are not at their defaults."""
    lines = [
        f"autodeploy: {_board(board_id, settings)}" for board_id in dict.fromkeys(settings.evb)
    ]
    set_by = (f"{name} ({source})" for name, source in settings.sources.items())
    return [*lines, f"autodeploy: settings: {', '.join(set_by)}"]


def _board(board_id: str, settings: Settings) -> str:
    port = settings.evb_port or "opened when it is first used"
    if board_id.startswith("sim:"):
        return f"{board_id}, simulated: figures are modelled, not measured; port {port}"
    if board_id.startswith("qemu:"):
        return f"{board_id}, emulated: times are counts of instructions, not measured"
    return f"{board_id}, hardware; port {port}"
