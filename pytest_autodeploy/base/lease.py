"""Leases: a thing of this PC has one owner among all processes, whoever their users are.

On Linux a lease is an abstract Unix socket that is bound (``lease_sockets``): it has no file, so no
folder, TMPDIR or right of a user matters, and it falls with its owner, also by SIGKILL. Elsewhere
it is a locked file in a folder of the user (``lease_files``), which other users do not see.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Sequence
from typing import Protocol

from pytest_autodeploy.base.errors import AutodeployError
from pytest_autodeploy.base.lease_holder import Holder, clock_text
from pytest_autodeploy.base.progress import show_wait

_LOOK_AGAIN_S = 5.0
"""The owner may have changed meanwhile: who waits is told who it is now."""


class LeaseHeld(AutodeployError):
    """Others have it, and did not give it up in time; ``holder`` is one of them."""

    def __init__(self, what: str, holder: Holder, seconds: float | None) -> None:
        super().__init__(what, seconds=seconds)
        self.holder = holder


class Lease(Protocol):
    """What this process has, until its ``release``, which may be called twice."""

    identity: str

    def release(self) -> None:
        """Give it up, first to those who wait."""


def try_lease(identity: str) -> Lease | None:
    """The lease of what ``identity`` names, None while another has it. Raises LeaseUnusable."""
    if sys.platform == "linux":
        from pytest_autodeploy.base.lease_sockets import try_socket

        return try_socket(identity)
    from pytest_autodeploy.base.lease_files import try_file

    return try_file(identity)


def holder_of(identity: str) -> Holder | None:
    """Who has a lease now, None when nobody has."""
    if sys.platform == "linux":
        from pytest_autodeploy.base.lease_sockets import socket_holder

        return socket_holder(identity)
    from pytest_autodeploy.base.lease_files import file_holder

    return file_holder(identity)


def take_lease(identity: str, timeout_s: float, what: str = "") -> Lease:
    """The lease, waited for. Raises LeaseHeld, LeaseUnusable; ``what`` is as progress names it."""
    _, (lease,) = take_one_of([[identity]], timeout_s, what or identity)
    return lease


def take_one_of(
    claims: Sequence[Sequence[str]], timeout_s: float, what: str
) -> tuple[int, list[Lease]]:
    """All the leases of the first of the ``claims`` that can be had, and which of them that is.

    Those before are preferred, and all are waited for. Raises LeaseHeld, at once when all are this
    process's own, and LeaseUnusable.
    """
    if (found := _first(claims)) is not None:
        return found
    until, clock = time.monotonic() + timeout_s, clock_text(time.time())
    with show_wait(f"waiting{clock} for {what}") as say:
        while True:
            holders = _holders(claims)
            left = until - time.monotonic()
            own = bool(holders) and all(holder.is_this_process for holder in holders.values())
            if own or left <= 0:
                holder = next(iter(holders.values()), Holder())
                raise LeaseHeld(f"{what} is in use", holder, None if own else timeout_s)
            say(f"waiting{clock} for {what}, which {_texts(holders.values())}")
            _wait(tuple(holders), min(left, _LOOK_AGAIN_S))
            if (found := _first(claims)) is not None:
                return found


def _first(claims: Sequence[Sequence[str]]) -> tuple[int, list[Lease]] | None:
    for number, identities in enumerate(claims):
        if (leases := _all_of(identities)) is not None:
            return number, leases
    return None


def _holders(claims: Sequence[Sequence[str]]) -> dict[str, Holder]:
    """Who has what is claimed, by identity."""
    held = {each: holder_of(each) for claim in claims for each in claim}
    return {each: holder for each, holder in held.items() if holder is not None}


def _all_of(identities: Sequence[str]) -> list[Lease] | None:
    """All or none: who waits for the second one keeps the first from nobody."""
    leases: list[Lease] = []
    for identity in dict.fromkeys(identities):
        lease = try_lease(identity)
        if lease is None:
            for other in leases:
                other.release()
            return None
        leases.append(lease)
    return leases


def _texts(holders: Iterable[Holder]) -> str:
    texts = dict.fromkeys(holder.text for holder in holders)
    has = "has" if len(texts) == 1 else "have"
    return f"{' and '.join(texts)} {has}" if texts else "another process has just given up"


def _wait(identities: Sequence[str], timeout_s: float) -> None:
    """Wait until one of them may be free."""
    if sys.platform == "linux":
        from pytest_autodeploy.base.lease_sockets import wait_for_sockets

        wait_for_sockets(identities, timeout_s)
    else:
        time.sleep(min(timeout_s, 0.2))
