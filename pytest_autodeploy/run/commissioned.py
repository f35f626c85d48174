"""When a board was last found good, and whether a run may use it: ``--evb-commissioned``."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_autodeploy.base.cache_folder import user_cache
from pytest_autodeploy.base.errors import AutodeployError
from pytest_autodeploy.base.files import write_bytes
from pytest_autodeploy.base.names import file_name

if TYPE_CHECKING:
    from pytest_autodeploy.settings.settings import Settings

_UNITS = {"d": 24 * 3600, "h": 3600, "w": 7 * 24 * 3600}
_MOST_BYTES = 64 * 1024


class NotCommissioned(AutodeployError):
    """A board was not found good lately, which ``--evb-commissioned`` demands."""


def age_of(text: str) -> timedelta:
    """The age that a user wrote, such as ``7d``, ``12h`` or ``2w``, which was checked."""
    return timedelta(seconds=int(text[:-1]) * _UNITS[text[-1]])


def remember(
    board: str, probe: str | None, date: str, *, green: bool, folder: Path | None = None
) -> None:
    """Keep when a board was commissioned (ISO 8601) and how it went, for `check_commissioned`."""
    plain = {"date": date, "green": green}
    write_bytes(_path(board, probe, folder), json.dumps(plain).encode())


def check_boards_commissioned(settings: Settings) -> None:
    """Check all boards of a run that demands it, each of a rig that it may use.

    Raises NotCommissioned.
    """
    for board in settings.evb if settings.evb_commissioned is not None else ():
        named = [each.id for each in settings.rig.of(board)] if settings.rig else []
        for board_id in named or [board]:
            check_commissioned(board_id, settings.evb_probe, str(settings.evb_commissioned))


def check_commissioned(board: str, probe: str | None, age: str, folder: Path | None = None) -> None:
    """Raise NotCommissioned unless the latest commissioning of a board is green and young."""
    typed = f"autodeploy commission --evb {board}{f' --evb-probe {probe}' if probe else ''}"
    hint = f"commission it: {typed}"
    try:
        with _path(board, probe, folder).open("rb") as file:
            plain = json.loads(file.read(_MOST_BYTES))
        date, green = datetime.fromisoformat(plain["date"]), plain["green"] is True
        old = datetime.now(UTC) - date
    except FileNotFoundError:
        raise NotCommissioned(f"{board} was never commissioned by this user", hint=hint) from None
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        what = f"what is kept of {board}'s commissioning cannot be read: {error}"
        raise NotCommissioned(what, hint=hint) from None
    if not green:
        raise NotCommissioned(f"{board} failed its commissioning of {plain['date']}", hint=hint)
    if not timedelta() <= old <= age_of(age):
        what = f"{board} was commissioned at {plain['date']}, which is longer ago than {age}"
        raise NotCommissioned(what, hint=hint)


def _path(board: str, probe: str | None, folder: Path | None) -> Path:
    name = f"{file_name(board)}-{file_name(probe)}" if probe else file_name(board)
    return (folder or user_cache("commissioned")) / f"{name}.json"
