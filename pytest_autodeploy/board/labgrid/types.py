"""Which board of the catalog is at a place: its tag ``board=`` says it."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_autodeploy.board.labgrid.client import LabgridClient, find_client
from pytest_autodeploy.catalog.boards import UnknownBoard
from pytest_autodeploy.catalog.kinds import split
from pytest_autodeploy.catalog.places import TYPE_TAG, learn_type, type_of


def learn_types(names: Iterable[str], program: str | None) -> None:
    """Ask the lab for those of its boards whose names do not say it; ``program`` is labgrid-client.

    Raises LabError, and UnknownBoard for a place without the tag.
    """
    asked = [board_id for board_id in names if type_of(split(board_id)[1]) is None]
    if not asked:
        return
    places = LabgridClient(find_client(program, asked[0]), asked[0]).places()
    for board_id in asked:
        name = split(board_id)[1]
        found = [each for each in places if name == each.name or name in each.aliases]
        if not found:
            there = ", ".join(each.name for each in places) or "no places"
            raise UnknownBoard(f"labgrid has no place {name!r}", hint=f"there are {there}")
        board = found[0].tags.get(TYPE_TAG)
        if board is None:
            raise UnknownBoard(
                f"the place {name} has no tag {TYPE_TAG}=, which says which board is there",
                hint=f"name it labgrid:{name}+board=NAME, or give it the tag: "
                f"labgrid-client -p {name} set-tags {TYPE_TAG}=NAME",
            )
        learn_type(name, board)
