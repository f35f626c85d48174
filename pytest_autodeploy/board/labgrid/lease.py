"""A place of a lab for this run: waited for in labgrid's queue, acquired, and given back."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_autodeploy.base.errors import AutodeployError
from pytest_autodeploy.base.progress import show_task
from pytest_autodeploy.board.labgrid.client import (
    Here,
    LabError,
    LabgridClient,
    NotOurs,
    clean_environment,
    find_client,
)
from pytest_autodeploy.board.labgrid.keeping import Keeper
from pytest_autodeploy.board.labgrid.owner import is_dead, new_owner
from pytest_autodeploy.board.labgrid.returning import give_back
from pytest_autodeploy.catalog.places import TYPE_TAG, Wanted

if TYPE_CHECKING:
    from pytest_autodeploy.board.labgrid.listing import Place, Reservation, Resource

LOG = logging.getLogger(__name__)

LOOK_S = 30.0
"""Between two looks at who has the places that are waited for. Meanwhile labgrid-client waits, and
renews the reservation each second; it would fall after a minute."""

POWER = frozenset(
    {
        *("NetworkPowerPort", "NetworkUSBPowerPort", "NetworkSiSPMPowerPort", "PDUDaemonPort"),
        *("TasmotaPowerPort", "NetworkYKUSHPowerPort", "NetworkSysfsGPIO"),
    }
)
"""What ``labgrid-client power`` of labgrid 26.0.1 can switch."""

_WAITING, _ALLOCATED = "waiting", "allocated"


@dataclass(frozen=True)
class Held:
    """A place that this run has acquired, and what is there."""

    place: Place
    resources: Sequence[Resource]


class Lease:
    """What ``wanted`` says, for the board ``board_id``, which is a ``board`` of the catalog.

    ``program`` is labgrid-client when it is not on PATH; ``wait_s`` bounds the wait for a place.
    """

    def __init__(
        self, board_id: str, board: str, wanted: Wanted, *, program: str | None, wait_s: float
    ) -> None:
        self._id = board_id
        self._board = board
        self._wanted = wanted
        self._program = program
        self._wait_s = wait_s
        self._owner = new_owner()
        self._keeper: Keeper | None = None
        self._token: str | None = None
        self._asked = False
        self._held: Held | None = None
        self._failed: LabError | None = None

    @property
    def held(self) -> Held | None:
        """What is held, None when nothing is."""
        return self._held

    def hold(self) -> Held:
        """The place, waited for and acquired at the first use. Raises LabError, then again."""
        if self._failed is not None:
            raise self._failed.with_traceback(None)
        if self._held is None:
            try:
                self._held = self._take()
            except AutodeployError as error:
                self._failed = error if isinstance(error, LabError) else self._error(str(error))
                self.release()
                raise self._failed from None
            except BaseException:  # Ctrl-C while it waits
                self.release()
                raise
        return self._held

    def check(self) -> None:
        """See that the place is still this run's. Raises LabError.

        A coordinator that is started anew has forgotten who had acquired what, and a person may
        have given the place to another.
        """
        held = self.hold()
        place, _ = self._client().show(held.place.name)
        if place.acquired != str(self._owner):
            who = f"{place.acquired} has it" if place.acquired else "nobody has it"
            self._failed = self._error(
                f"the place {place.name} was taken from this run: {who}",
                "the coordinator was started anew, or somebody released the place",
            )
            self._held = None
            raise self._failed

    @property
    def has_power(self) -> bool:
        """Whether the place that is held has something that switches its power."""
        return any(each.kind in POWER for each in self._held.resources) if self._held else False

    def power_cycle(self) -> None:
        """Cut the power of the board, and give it back. Raises LabError."""
        self._client().power_cycle(self.hold().place.name)

    def release(self) -> None:
        """Give back the place and the reservation; may be called twice."""
        keeper, self._keeper = self._keeper, None
        if keeper is None:
            return
        held, token, asked = self._held, self._token, self._asked
        self._held, self._token, self._asked = None, None, False
        try:
            clean = not asked or (held is not None and self._release(keeper, held, token))
            dead = not keeper.alive
            if not keeper.close(clean=clean) and dead:
                self._give_back_here()
        except BaseException:  # a second Ctrl-C, which does not reach the keeper
            keeper.leave()
            raise

    def _release(self, keeper: Keeper, held: Held, token: str | None) -> bool:
        """Whether nothing is left to give back."""
        client = LabgridClient(self._program or "", self._id, keeper)
        try:
            client.release_from(held.place.name, str(self._owner))
            if token is not None:
                client.cancel(token)
        except LabError as error:
            LOG.info("%s", error)
            return False
        return True

    def _give_back_here(self) -> None:
        """Without a keeper, which was killed."""
        try:
            runner = Here(clean_environment(**self._owner.environment))
            give_back(LabgridClient(self._program or "", self._id, runner), str(self._owner))
            self._owner.forget()
        except LabError as error:
            LOG.warning("%s", error)

    def _client(self) -> LabgridClient:
        if self._keeper is None:
            self._program = find_client(self._program, self._id)
            self._keeper = Keeper(self._program, self._owner, self._id)
        return LabgridClient(self._program or "", self._id, self._keeper)

    def _take(self) -> Held:
        client = self._client()
        places = self._candidates(client.places())
        self._bury(client, places)
        fit = [f"name={places[0].name}"] if self._wanted.place else self._tags()
        name = self._wait(client, fit)
        client.acquire(name)
        place, resources = client.show(name)
        if place.acquired != str(self._owner):
            raise self._error(f"labgrid did not give {name} to {self._owner}")
        self._check_type(place)
        LOG.info("%s: acquired %s as %s", self._id, name, self._owner)
        return Held(place, resources)

    def _tags(self) -> list[str]:
        return [f"{key}={value}" for key, value in self._wanted.tags.items()]

    def _candidates(self, places: Sequence[Place]) -> list[Place]:
        """The places that would do; else labgrid would let this run wait for ever."""
        wanted = self._wanted
        if wanted.place:
            found = [each for each in places if each.name == wanted.place]
            found = found or [each for each in places if wanted.place in each.aliases]
            names = [each.name for each in places]
        else:
            found = [each for each in places if wanted.tags.items() <= each.tags.items()]
            names = [
                f"{each.name} ({' '.join(f'{k}={v}' for k, v in each.tags.items()) or 'no tags'})"
                for each in places
            ]
        if not found:
            raise self._error(
                f"labgrid has not {wanted.text}", f"there are {', '.join(names) or 'no places'}"
            )
        if wanted.place:
            self._check_type(found[0])
        return found

    def _check_type(self, place: Place) -> None:
        says = place.tags.get(TYPE_TAG)
        if says is not None and says != self._board:
            raise self._error(
                f"the place {place.name} has the tag {TYPE_TAG}={says}, not {self._board}",
                f"name it {self._id.partition('+')[0]}, or correct its tag",
            )

    def _wait(self, client: LabgridClient, fit: Sequence[str]) -> str:
        """The name of a place that labgrid keeps for this run."""
        until = time.monotonic() + self._wait_s
        self._asked = True
        reservation: Reservation | None = client.reserve(fit)
        assert reservation is not None
        token = self._token = reservation.token
        while reservation is None or reservation.state == _WAITING:
            places = self._candidates(client.places())
            self._bury(client, places)
            left = until - time.monotonic()
            if left <= 0:
                raise self._late(places)
            with show_task(f"waiting for {self._wanted.text}: {_used(places)}"):
                reservation = client.wait(token, min(LOOK_S, left))
        if reservation.state != _ALLOCATED or reservation.place is None:
            what = f"the reservation of {self._wanted.text} is {reservation.state}"
            raise self._error(what, "somebody changed the lab meanwhile: run it again")
        return reservation.place

    def _late(self, places: Sequence[Place]) -> LabError:
        return LabError(
            f"no place got free: {_used(places)}",
            board=self._id,
            seconds=self._wait_s,
            hint="wait longer (--evb-wait SECONDS), or name another; a place of a run that died "
            "elsewhere is freed by: labgrid-client -p PLACE release --kick",
        )

    def _bury(self, client: LabgridClient, places: Sequence[Place]) -> None:
        """Give back what runs on this PC have left that were killed with their keepers."""
        for owner in {each.acquired for each in places if each.acquired}:
            if is_dead(owner):
                LOG.info("%s: %s is dead, and gives back what it has", self._id, owner)
                with suppress(NotOurs):
                    give_back(client, owner)

    def _error(self, what: str, hint: str | None = None) -> LabError:
        return LabError(what, board=self._id, hint=hint)


def _used(places: Sequence[Place]) -> str:
    used = [
        f"{each.name} by {each.acquired} since {each.since}" for each in places if each.acquired
    ]
    kept = [f"{each.name} is reserved" for each in places if each.reservation and not each.acquired]
    if len(places) > 3:
        return f"{len(used)} of {len(places)} are used, {len(kept)} are reserved"
    return "; ".join([*(f"used is {each}" for each in used), *kept]) or "its turn did not come"
