"""``--autodeploy-power``: which power meter a board has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from pytest_autodeploy.catalog.kinds import kind_of

if TYPE_CHECKING:
    from pytest_autodeploy.settings.settings import Settings

Kind = Literal["joulescope", "replay", "sim", "off"]

SYNTAX = "joulescope[:SERIAL], replay:FILE, sim or off"
KINDS: dict[str, Kind] = {
    "joulescope": "joulescope",
    "replay": "replay",
    "sim": "sim",
    "off": "off",
}
NO_METER = "no power meter; give --autodeploy-power METER"


class Choice(NamedTuple):
    """A meter as chosen; ``what`` is a serial number or the path of a capture."""

    kind: Kind
    what: str | None = None


def parse_choice(text: str) -> Choice:
    """The meter that a user wrote. Raises ValueError."""
    name, colon, what = text.partition(":")
    kind = KINDS.get(name)
    with_what = {"joulescope": bool(what) or not colon, "replay": bool(what)}
    if kind is None or not with_what.get(kind, not colon):
        raise ValueError(f"{text!r} is not {SYNTAX}")
    return Choice(kind, what or None)


def chosen_for(board_id: str, settings: Settings) -> Choice:
    """The meter of a board: the chosen one, else the one that belongs to the board, if any."""
    if settings.power is not None:
        return parse_choice(settings.power)
    owned = kind_of(board_id).own_meter and settings.evb_port is None
    return Choice("sim") if owned else Choice("off")


def has_meter(settings: Settings) -> bool:
    """Whether any board of the run has a meter."""
    return any(chosen_for(board, settings).kind != "off" for board in settings.evb)
