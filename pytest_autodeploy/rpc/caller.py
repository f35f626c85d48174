"""What all calls of a board share: its session, its refusals in words, its log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from pytest_autodeploy.base.errors import (
    BoardDied,
    BoardError,
    BoardRefused,
    LinkError,
    WrongFirmware,
)
from pytest_autodeploy.rpc import calls
from pytest_autodeploy.rpc.calls import Call
from pytest_autodeploy.rpc.exchange import Exchange, Observer, Refusal
from pytest_autodeploy.rpc.framing import FRAME_HEADER_BYTES
from pytest_autodeploy.rpc.link import Link
from pytest_autodeploy.rpc.messages import (
    MAX_MESSAGE_BYTES,
    MIN_MESSAGE_BYTES,
    PROTOCOL_VERSION,
    SESSION_NUMBERS,
    Identity,
    OtherProtocol,
    Status,
)

_LOG_TIMEOUT_S = 1.0
_IDENTIFY_TIMEOUT_S = 5.0
_MOST_LOG_BYTES = 1 << 20
_WORDS_LINES = 8
_BATCH = SESSION_NUMBERS // 4
"""At most so many requests are made in a row; half as many numbers again are for repetitions."""


_ADVICE = {
    Status.NO_MEMORY: "give it more memory: --evb-arena-kb, --evb-arena-memory",
    Status.UNSUPPORTED_OPERATOR: "`autodeploy inspect MODEL` lists its operators and their types",
    Status.BAD_MODEL: "`autodeploy inspect MODEL` tells whether the file is damaged",
    Status.NO_MODEL: "flash a model first, or load one where the board takes it over the link",
    Status.NOT_CONFIGURED: "call configure first",
}
"""What to do about a refusal; for others the board's own words say it."""


class Caller:
    """Calls a board over ``link``, each within ``timeout_s`` seconds unless a method says other.

    Ordered calls belong to the session that `identify` opens, which happens by itself before the
    first of them.
    """

    def __init__(self, link: Link, timeout_s: float = 10.0) -> None:
        self.link = link
        self.timeout_s = timeout_s
        self._exchange = Exchange(link)
        self._identity: Identity | None = None
        self._log_cursor = 0
        self._log_kept = ""

    @property
    def board(self) -> str:
        """The name of the board in errors."""
        return self.link.board

    @property
    def sent_again(self) -> int:
        """Requests that were sent more than once, as a failure of the link made it necessary."""
        return self._exchange.sent_again

    def observe(self, observer: Observer | None) -> None:
        """Tell ``observer`` of all calls from now on, None to tell nobody."""
        self._exchange.observer = observer

    def identify(self) -> Identity:
        """What the board is and runs; WrongFirmware when it speaks another protocol version."""
        self._exchange.end_session()
        try:
            identity = self._identify()
        except OtherProtocol as other:
            raise self._other_protocol(other.version) from None
        self._check_sizes(identity)
        self.link.max_message_bytes = identity.max_message_bytes
        self._identity = identity
        self._exchange.open_session(identity.session)
        return identity

    def read_log(self) -> str:
        """What the board logged since the last call, but for the words that errors carried."""
        text = self._log_kept + self._new_log(self.timeout_s)
        self._log_kept = ""
        return text

    def close(self) -> None:
        """Closes the link; may be called twice."""
        self.link.close()

    def _known(self) -> Identity:
        return self._identity or self.identify()

    def _identify(self) -> Identity:
        timeout_s = min(self.timeout_s, _IDENTIFY_TIMEOUT_S)
        said: list[Any] = [PROTOCOL_VERSION]
        try:
            return self._first(calls.IDENTIFY, said, timeout_s)
        except Refusal as refusal:
            if refusal.status is not Status.BAD_ARGUMENT:
                raise self._refused(refusal) from None
        return self._first(calls.IDENTIFY_OF_VERSION_1, [], timeout_s)

    def _first(self, call: Call, arguments: list[Any], timeout_s: float) -> Identity:
        results = next(self._exchange.perform(call, [tuple(arguments)], timeout_s=timeout_s))
        identity: Identity = results[0]
        return identity

    def _check_sizes(self, identity: Identity) -> None:
        least = MIN_MESSAGE_BYTES + FRAME_HEADER_BYTES
        if (
            not MIN_MESSAGE_BYTES <= identity.max_message_bytes <= MAX_MESSAGE_BYTES
            or identity.window_bytes < least
        ):
            raise WrongFirmware(
                f"identify: the board announces messages of {identity.max_message_bytes} bytes "
                f"and a window of {identity.window_bytes}",
                board=self.board,
                hint=f"messages: {MIN_MESSAGE_BYTES} to {MAX_MESSAGE_BYTES} bytes, "
                f"window: at least {least}",
            )

    def _call(self, call: Call, *arguments: Any, timeout_s: float | None = None) -> list[Any]:
        return next(self._calls(call, [arguments], timeout_s=timeout_s))

    def _calls(
        self,
        call: Call,
        pieces: Sequence[tuple[Any, ...]],
        *,
        depth: int = 1,
        timeout_s: float | None = None,
    ) -> Iterator[list[Any]]:
        timeout_s = self.timeout_s if timeout_s is None else timeout_s
        for start in range(0, len(pieces), _BATCH):
            batch = pieces[start : start + _BATCH]
            if call.ordered and self._exchange.numbers_left < len(batch) + _BATCH // 2:
                self.identify()
            try:
                yield from self._exchange.perform(call, batch, timeout_s=timeout_s, depth=depth)
            except Refusal as refusal:
                raise self._refused(refusal) from None

    def _refused(self, refusal: Refusal) -> BoardError:
        name, status = refusal.call.name, refusal.status
        text = "" if refusal.call is calls.READ_LOG else self._text()
        if status is Status.OUT_OF_ORDER:
            self._forget_session()
            return BoardDied(
                f"{name}: the session with the board has ended",
                board=self.board,
                seconds=self.link.elapsed_s,
                hint=f"The board has restarted, or another program talks to it. {self._start()}"
                f"Its log: {text}",
            )
        return BoardRefused(
            f"{name}: refused ({status.text})",
            status=status.name,
            text=text,
            board=self.board,
            hint=_ADVICE.get(status),
        )

    def _forget_session(self) -> None:
        self._exchange.end_session()
        self._identity = None

    def _start(self) -> str:
        """How it has started last, in a sentence, as far as it tells."""
        with suppress(BoardError):
            report = next(self._calls(calls.DESCRIBE_BOARD, [()], timeout_s=_LOG_TIMEOUT_S))[0]
            cause = report.reset_cause.text
            return f"It was last started by: {cause}. " if cause else ""
        return ""

    def _text(self) -> str:
        """The last lines of the log; what is before them waits for `read_log`."""
        with suppress(BoardError):
            lines = self._new_log(_LOG_TIMEOUT_S).splitlines(keepends=True)
            self._log_kept += "".join(lines[:-_WORDS_LINES])
            return "".join(lines[-_WORDS_LINES:]).strip()
        return ""

    def _new_log(self, timeout_s: float) -> str:
        """All pages; each tells where the log ends."""
        log = bytearray()
        end: int | None = None
        while self._log_cursor != end:
            end, cursor, page = next(
                self._calls(calls.READ_LOG, [(self._log_cursor,)], timeout_s=timeout_s)
            )
            log += page
            if (not page and cursor != end) or len(log) > _MOST_LOG_BYTES:
                raise self.link.failure(
                    LinkError, f"the log goes on at byte {cursor} and ends at byte {end}"
                )
            self._log_cursor = cursor
        return log.decode(errors="replace")

    def _other_protocol(self, version: int) -> WrongFirmware:
        newer = version > PROTOCOL_VERSION
        return WrongFirmware(
            f"identify: the board speaks version {version} of the protocol, "
            f"this pytest-autodeploy version {PROTOCOL_VERSION}",
            board=self.board,
            hint="update pytest-autodeploy" if newer else "flash the board with newer firmware",
        )
