"""Whether the boards that a run names are in its rig."""

from __future__ import annotations

from pytest_autodeploy.settings.settings import OWN_BOARD, SettingError, Settings


def check_rig(settings: Settings) -> None:
    """See that the boards of a run are in its rig, and that nothing else says where they are.

    Raises RigError, UnknownRigBoard, SettingError.
    """
    typed = settings.sources.get("evb_rig", "").startswith("--")
    for name in OWN_BOARD:
        if typed and getattr(settings, name):
            raise SettingError(
                f"{settings.sources[name]} and --evb-rig both say where the board is",
                hint="give one of them",
            )
    for board_id in settings.evb:
        settings.board_id(board_id)
