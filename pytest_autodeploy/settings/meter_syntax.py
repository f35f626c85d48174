"""``--autodeploy-power``: how a power meter is named."""

from __future__ import annotations

from typing import Literal, NamedTuple

Kind = Literal["joulescope", "replay", "sim", "off"]

SYNTAX = "joulescope[:SERIAL], replay:FILE, sim or off"
KINDS: dict[str, Kind] = {
    "joulescope": "joulescope",
    "replay": "replay",
    "sim": "sim",
    "off": "off",
}


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
