"""Boards that a lab lends, as a user types them: ``labgrid:PLACE`` and ``labgrid:+board=NAME``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_autodeploy.catalog.boards import UnknownBoard

TYPE_TAG = "board"
"""The tag of a place that says which board of the catalog is there."""

_TAG = re.compile(r"(?P<key>[a-z][a-z0-9_]+)=(?P<value>[A-Za-z0-9_.-]+)")
"""labgrid 26 checks keys the same way; values may be any there, and these pass as an argument."""

_SYNTAX = (
    "labgrid:PLACE, labgrid:PLACE+board=NAME when the place has no tag board=, or "
    "labgrid:+board=NAME[,TAG=VALUE] for any place with these tags"
)


@dataclass(frozen=True)
class Wanted:
    """What a run wants of a lab: the place of that name, or any one (``place`` is empty).

    ``tags`` are those that the place has to have.
    """

    place: str
    tags: Mapping[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """For messages: ``the place lab3-a``, or ``a place with board=apollo4p_evb``."""
        if self.place:
            return f"the place {self.place}"
        return f"a place with {' '.join(f'{key}={value}' for key, value in self.tags.items())}"


def parse_place(name: str) -> Wanted:
    """What stands behind ``labgrid:``. Raises UnknownBoard."""
    place, plus, text = name.partition("+")
    tags: dict[str, str] = {}
    for each in text.split(",") if plus else ():
        found = _TAG.fullmatch(each)
        if found is None:
            what = f"labgrid:{name}: {each!r} is not a tag such as board=apollo4p_evb"
            raise UnknownBoard(what, hint=_SYNTAX)
        tags[found["key"]] = found["value"]
    if place.startswith("-") or any(letter.isspace() or letter in "/[]" for letter in place):
        raise UnknownBoard(f"labgrid:{name}: {place!r} is no name of a place", hint=_SYNTAX)
    if not place and TYPE_TAG not in tags:
        raise UnknownBoard(f"labgrid:{name}: it does not say which board", hint=_SYNTAX)
    return Wanted(place, tags)


_LEARNT: dict[str, str] = {}


def learn_type(name: str, board: str) -> None:
    """Keep for this process which board is at a place, as its tag says."""
    _LEARNT[name] = board


def type_of(name: str) -> str | None:
    """The board at a place, as typed or as its tag said before; None when that is not known."""
    return parse_place(name).tags.get(TYPE_TAG) or _LEARNT.get(name)


def type_at(name: str) -> str:
    """The same; raises UnknownBoard when it is not known."""
    found = type_of(name)
    if found is None:
        raise UnknownBoard(
            f"labgrid:{name}: it is not known which board is there",
            hint=f"say it: labgrid:{name}+board=apollo4p_evb",
        )
    return found
