"""What ``labgrid-client`` prints of places, their resources and reservations.

It has no output for programs: this is the text of ``places -v``, ``show`` and ``reservations`` of
labgrid 25 and 26 (labgrid/remote/client.py and common.py). What is not understood is an error.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

_PLACE = re.compile(r"Place '(?P<name>.+)':")
_RESERVATION = re.compile(r"Reservation '(?P<token>.+)':")
_RESOURCE = re.compile(
    r"(?P<state>Acquired|Matching|Orphaned) resource '(?P<name>.+)' "
    r"\((?P<path>[^/]+/[^/]+/(?P<kind>[^/]+)/[^/]+)\):?"
)
_FIELD = re.compile(r"  (?P<key>[a-z ]+):(?: (?P<value>.*))?")
_ALLOCATION = re.compile(r"    main: (?P<place>.+)")


class Garbled(ValueError):
    """A program printed what labgrid-client does not."""


@dataclass(frozen=True)
class Place:
    """A place of the lab; ``acquired`` is its owner as HOST/USER, ``since`` when it last changed.

    ``reservation`` is the token that it is kept for.
    """

    name: str
    aliases: tuple[str, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict)
    acquired: str | None = None
    reservation: str | None = None
    since: str = ""


@dataclass(frozen=True)
class Resource:
    """A resource of a place. ``path`` is EXPORTER/GROUP/CLASS/NAME, ``kind`` its class.

    It is ``orphaned`` when its exporter went away.
    """

    name: str
    path: str
    kind: str
    available: bool
    params: Mapping[str, Any]
    orphaned: bool = False


@dataclass(frozen=True)
class Reservation:
    """A place in labgrid's queue."""

    token: str
    owner: str
    state: str
    place: str | None


def parse_places(text: str) -> list[Place]:
    """The places that ``places -v`` or ``show`` lists. Raises Garbled."""
    return [_place(name, block) for name, block in _blocks(text, _PLACE)]


def parse_resources(text: str) -> list[Resource]:
    """The resources that ``show`` lists, those of the place when it is acquired. Raises Garbled."""
    found: list[Resource] = []
    for head, block in _heads(text, _RESOURCE):
        body = "\n".join(block)
        orphaned = head["state"] == "Orphaned"
        entry = {} if orphaned else _literal(body)
        params = entry.get("params", {})
        if not isinstance(params, dict):
            raise Garbled(body)
        available = bool(entry.get("avail"))
        found.append(
            Resource(head["name"], head["path"], head["kind"], available, params, orphaned)
        )
    return found


def parse_reservations(text: str) -> list[Reservation]:
    """What ``reservations`` lists, or ``reserve``. Raises Garbled."""
    return [_reservation(token, block) for token, block in _blocks(text, _RESERVATION)]


def parse_waited(text: str) -> Reservation:
    """The last of what ``wait`` printed, which has no head. Raises Garbled."""
    _, start, block = text.rpartition("owner: ")
    lines = [f"  {line}" for line in f"{start}{block}".splitlines()]
    token = _fields(lines).get("token", "")
    return _reservation(token, lines)


def _heads(text: str, head: re.Pattern[str]) -> Iterator[tuple[re.Match[str], list[str]]]:
    """Each line that is a head, with the lines below it that are indented."""
    match: re.Match[str] | None = None
    block: list[str] = []
    for line in text.splitlines():
        if line.startswith(" "):
            block.append(line)
            continue
        if match is not None:
            yield match, block
        match, block = head.fullmatch(line), []
        if match is None and not any(each.fullmatch(line) for each in (_PLACE, _RESOURCE)):
            raise Garbled(line)
    if match is not None:
        yield match, block


def _blocks(text: str, head: re.Pattern[str]) -> Iterator[tuple[str, list[str]]]:
    yield from ((match[1], block) for match, block in _heads(text, head))


def _fields(block: list[str]) -> dict[str, str]:
    """The fields of a block; of two the later: a comment is a user's text, and stands first."""
    found = (_FIELD.fullmatch(line) for line in block)
    return {match["key"]: match["value"] or "" for match in found if match}


def _place(name: str, block: list[str]) -> Place:
    fields = _fields(block)
    if "acquired" not in fields:
        raise Garbled(f"Place '{name}' without its owner")
    pairs = (tag.partition("=") for tag in fields.get("tags", "").split(", ") if "=" in tag)
    return Place(
        name,
        tuple(filter(None, fields.get("aliases", "").split(", "))),
        {key: value for key, _, value in pairs},
        None if fields["acquired"] == "None" else fields["acquired"],
        fields.get("reservation") or None,
        fields.get("changed", "").partition(".")[0],
    )


def _reservation(token: str, block: list[str]) -> Reservation:
    fields = _fields(block)
    if "owner" not in fields or "state" not in fields:
        raise Garbled(f"Reservation '{token}' without owner or state")
    below = block[block.index("  allocations:") :] if "  allocations:" in block else []
    place = next((match["place"] for line in below if (match := _ALLOCATION.fullmatch(line))), None)
    return Reservation(token, fields["owner"], fields["state"], place)


def _literal(text: str) -> dict[str, Any]:
    """A dictionary that Python's pprint wrote; only literals are read."""
    try:
        value = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        raise Garbled(text) from None
    if not isinstance(value, dict):
        raise Garbled(text)
    return value
