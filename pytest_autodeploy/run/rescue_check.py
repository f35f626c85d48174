"""Whether what is asked for boards that break can be done: a second chance, a quarantine."""

from __future__ import annotations

from pytest_autodeploy.base.errors import AutodeployError
from pytest_autodeploy.base.private_folder import NotPrivate
from pytest_autodeploy.base.trusted_file import check_owned
from pytest_autodeploy.catalog.kinds import LEASED, kind_of
from pytest_autodeploy.catalog.rig_state import RigState
from pytest_autodeploy.settings.settings import SettingError, Settings

_OWN = "use a file of your own, such as ~/.config/autodeploy/quarantine.json"


def check_rescue(settings: Settings) -> None:
    """Raise SettingError for a second chance, or a quarantine, that there cannot be."""
    if settings.evb_second_chance == "on":
        _check_chance(settings)
    if settings.quarantine is not None:
        _check_quarantine(settings)


def _check_chance(settings: Settings) -> None:
    for board_id in settings.evb:
        of_rig = settings.rig.of(board_id) if settings.rig else ()
        kind = kind_of(board_id)
        if kind == LEASED:  # the lab tells, once a place is acquired
            continue
        starts = not (kind.is_hardware or settings.evb_port or of_rig)
        if not (starts or len(of_rig) > 1 or any(board.power_cycle for board in of_rig)):
            raise SettingError(
                f"{settings.sources['evb_second_chance']} on: {board_id} has none, as there is no "
                "other board of its type and no way to cut its power",
                hint="give both by --evb-rig FILE, or leave it out",
            )


def _check_quarantine(settings: Settings) -> None:
    origin, state = settings.sources["evb_quarantine"], settings.quarantine
    if settings.rig is None:
        raise SettingError(
            f"{origin} is for boards of a rig", hint="name them in a file by --evb-rig FILE"
        )
    if state is not None:
        check_owned_state(state, origin)


def check_owned_state(state: RigState, origin: str) -> None:
    """See that the file belongs to nobody else, and can be read. Raises SettingError."""
    try:
        if state.path.exists():
            check_owned(state.path, _OWN)
        else:
            check_owned(state.path.parent, _OWN)
        state.read()
    except NotPrivate as error:
        raise SettingError(f"{origin} is not trusted: {error.what}", hint=error.hint) from None
    except OSError as error:
        why = f"{error.strerror or error}"
        raise SettingError(f"{origin}: cannot use {state.path}: {why}", hint=_OWN) from None
    except AutodeployError as error:
        raise SettingError(f"{origin}: {error.what}", hint=error.hint) from None
