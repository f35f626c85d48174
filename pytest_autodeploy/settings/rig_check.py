"""Whether the boards that a run names are in its rig."""

from __future__ import annotations

from pytest_autodeploy.catalog.kinds import AT, kind_of
from pytest_autodeploy.catalog.rig import UnknownRigBoard
from pytest_autodeploy.settings.settings import OWN_BOARD, SettingError, Settings


def check_rig(settings: Settings) -> None:
    """See that nothing else says where the board is. Raises SettingError."""
    typed = settings.sources.get("evb_rig", "").startswith("--")
    for name in OWN_BOARD:
        if typed and getattr(settings, name):
            raise SettingError(
                f"{settings.sources[name]} and --evb-rig both say where the board is",
                hint="give one of them",
            )


def check_in_rig(board_id: str, settings: Settings) -> None:
    """Raise UnknownRigBoard for a board that only a rig could have and that is not in it."""
    rig, kind = settings.rig, kind_of(board_id)
    named = kind.attachable and AT in board_id
    if rig is None:
        if named:
            raise SettingError(f"{board_id} is of a rig", hint="give its file by --evb-rig FILE")
        return
    if named:
        rig.named(board_id.partition(AT)[2])
    if rig.of(board_id) or not (named or (kind.attachable and kind.is_hardware)):
        return
    types = ", ".join(dict.fromkeys(board.type for board in rig.boards))
    raise UnknownRigBoard(f"no {board_id} in {rig.path}", hint=f"It has {types}.")
