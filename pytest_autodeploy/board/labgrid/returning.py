"""Giving back what an owner has in a lab, whatever that is."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from pytest_autodeploy.board.labgrid.client import NoCoordinator, NotOurs

if TYPE_CHECKING:
    from pytest_autodeploy.board.labgrid.client import LabgridClient

LOG = logging.getLogger(__name__)


def give_back(client: LabgridClient, owner: str) -> None:
    """Release the places of an owner (HOST/USER), and cancel its reservations. Raises LabError.

    A place that was released stays reserved for a minute unless its reservation is cancelled.
    """
    for place in client.places():
        if place.acquired == owner:
            _try(partial(client.release_from, place.name, owner))
    for reservation in client.reservations():
        if reservation.owner == owner:
            _try(partial(client.cancel, reservation.token))


def _try(give: Callable[[], None]) -> None:
    """What labgrid refuses is not ours any more; that must not keep the rest from being given."""
    try:
        give()
    except NoCoordinator:
        raise
    except NotOurs as error:
        LOG.info("%s", error)
