"""The board's side of sessions: whose requests are carried out, and in which order."""

from __future__ import annotations

from enum import Enum, auto

from pytest_autodeploy.rpc.messages import SESSION_NUMBERS

_NUMBERS = 1 << 32
_SESSION_BIT = 1 << 31
_SCATTER = 0x9E3779B1
"""Hosts number their first `identify` at random, so a board that restarts gives other sessions."""


class Place(Enum):
    """Where a request stands among the ordered ones."""

    NEXT = auto()
    AGAIN = auto()
    STALE = auto()


class Sessions:
    """Decides by the numbers of ordered requests; the same rules as ``firmware/rpc/sessions.cc``.

    `give` gives a client a session: numbers that no other client has. The first ordered request
    with one of them opens the session and ends all that were given before; so an `identify` that
    comes late ends nothing. A client that knows nothing of sessions counts on from its `identify`.
    ``reply`` is that of the latest ordered request.
    """

    def __init__(self) -> None:
        self.reply = b""
        self._request = b""
        self._latest: int | None = None
        self._in_session = False
        self._given: int | None = None
        self._ended = 0
        """Up to this one sessions cannot be opened."""
        self._identify: int | None = None
        """The number of the latest `identify`, whose client has not gone on."""

    def give(self, number: int) -> int:
        """What `identify` with this number is told; the same when it comes again before any use."""
        if self._given is None:
            self._given = self._ended = _session_of(number * _SCATTER - SESSION_NUMBERS)
        if number != self._identify:
            self._given = _session_of(self._given + SESSION_NUMBERS)
            self._identify = number
        return self._given

    def place(self, number: int, request: bytes) -> Place:
        """Where a request stands; one that is next has to leave its ``reply``."""
        if self._opens_session(number):
            self._ended = _session_of(number)
            if self._ended == self._given:
                self._identify = None
            self._in_session = True
        elif self._opens_own_count(number):
            self._ended = self._given or 0
            self._identify = None
            self._in_session = False
        elif (self._latest, self._request) == (number, request):
            return Place.AGAIN
        elif not self._goes_on(number):
            return Place.STALE
        self._latest, self._request = number, request
        return Place.NEXT

    def _opens_session(self, number: int) -> bool:
        if self._given is None or number < _SESSION_BIT or number % SESSION_NUMBERS == 0:
            return False
        return 0 < _steps(self._ended, _session_of(number)) <= _steps(self._ended, self._given)

    def _opens_own_count(self, number: int) -> bool:
        """Also of a client that has not asked `identify`, on a board that has just started."""
        if self._identify is not None:
            return _follows(number, self._identify)
        return self._latest is None and self._given is None and number < _SESSION_BIT

    def _goes_on(self, number: int) -> bool:
        if self._latest is None or not _follows(number, self._latest):
            return False
        return not self._in_session or _session_of(number) == _session_of(self._latest)


def _session_of(number: int) -> int:
    return number % _SESSION_BIT // SESSION_NUMBERS * SESSION_NUMBERS | _SESSION_BIT


def _steps(start: int, end: int) -> int:
    """How many sessions were given from one to the other."""
    return (end - start) % _SESSION_BIT // SESSION_NUMBERS


def _follows(number: int, latest: int) -> bool:
    return 0 < (number - latest) % _NUMBERS < SESSION_NUMBERS
