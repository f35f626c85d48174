"""The host's side of the RPC: one method per call of ``firmware/autodeploy.erpc``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from pytest_autodeploy.base.errors import BoardError, BoardRefused, LinkError, WrongFirmware
from pytest_autodeploy.rpc import messages
from pytest_autodeploy.rpc.exchange import Exchange, Refusal
from pytest_autodeploy.rpc.framing import FRAME_HEADER_BYTES
from pytest_autodeploy.rpc.link import Link
from pytest_autodeploy.rpc.messages import (
    MAX_MESSAGE_BYTES,
    MIN_MESSAGE_BYTES,
    PROTOCOL_VERSION,
    Call,
    ClockMode,
    Identity,
    InvokeTiming,
    LayerRecord,
    ModelState,
    OtherProtocol,
    PowerRun,
    Status,
    TensorInfo,
)
from pytest_autodeploy.rpc.pieces import read_plan, write_plan

Progress = Callable[[int, int], None]
"""Called with the bytes that are done and the bytes that there are."""

_LOG_TIMEOUT_S = 1.0
_IDENTIFY_TIMEOUT_S = 5.0
_LOG_PAGES = 1024
_WORDS_LINES = 8

_ADVICE = {
    Status.NO_MEMORY: "give it more memory: --evb-arena-kb, --evb-arena-memory",
    Status.UNSUPPORTED_OPERATOR: "`autodeploy inspect MODEL` lists its operators and their types",
    Status.BAD_MODEL: "`autodeploy inspect MODEL` tells whether the file is damaged",
    Status.NO_MODEL: "flash a model first",
    Status.NOT_CONFIGURED: "call configure first",
}
"""What to do about a refusal; for others the board's own words say it."""


class ValidatorClient:
    """Calls a board over ``link``, each within ``timeout_s`` seconds unless a method says other.

    Every method raises BoardRefused with the board's own words when the board says no, and
    BoardTimeout, BoardDied or LinkError, which name the call, the board and the seconds, when the
    link or the board broke. Calls that may be repeated are, up to twice, within their deadline.
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

    def identify(self) -> Identity:
        """What the board is and runs; WrongFirmware when it speaks another protocol version."""
        try:
            timeout_s = min(self.timeout_s, _IDENTIFY_TIMEOUT_S)
            identity: Identity = self._call(messages.IDENTIFY, timeout_s=timeout_s)[0]
        except OtherProtocol as other:
            raise self._other_protocol(other.version) from None
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
        self.link.max_message_bytes = identity.max_message_bytes
        self._identity = identity
        return identity

    def configure(self, arena_bytes: int = 0) -> ModelState:
        """Prepares the model in an arena of ``arena_bytes``; 0: the size it was flashed with."""
        state: ModelState = self._call(messages.CONFIGURE, arena_bytes)[0]
        return state

    def describe_input(self, index: int) -> TensorInfo:
        """Name, type, shape and quantisation of an input."""
        info: TensorInfo = self._call(messages.DESCRIBE_INPUT, index)[0]
        return info

    def describe_output(self, index: int) -> TensorInfo:
        """Name, type, shape and quantisation of an output."""
        info: TensorInfo = self._call(messages.DESCRIBE_OUTPUT, index)[0]
        return info

    def write_input(
        self,
        index: int,
        data: bytes | bytearray | memoryview,
        on_progress: Progress | None = None,
    ) -> None:
        """Writes a whole input tensor; ``timeout_s`` bounds the time without progress."""
        view = memoryview(data).cast("B")
        piece, depth = write_plan(self._identity or self.identify())
        pieces = [
            (index, start, view[start : start + piece]) for start in range(0, len(view), piece)
        ]
        done = 0
        for (_, _, sent), _ in zip(
            pieces, self._calls(messages.WRITE_INPUT, pieces, depth=depth), strict=True
        ):
            done += len(sent)
            if on_progress:
                on_progress(done, len(view))

    def invoke(self, count: int = 1, timeout_s: float | None = None) -> InvokeTiming:
        """Runs the model ``count`` times; never repeated. Times are in ticks of the board."""
        timing: InvokeTiming = self._call(messages.INVOKE, count, timeout_s=timeout_s)[0]
        if len(timing.ticks) != count:
            raise self.link.failure(LinkError, f"{len(timing.ticks)} times of {count} inferences")
        return timing

    def read_output(self, index: int, nbytes: int, on_progress: Progress | None = None) -> bytes:
        """The ``nbytes`` of an output tensor; ``timeout_s`` bounds the time without progress."""
        return self._read(messages.READ_OUTPUT, index, nbytes, on_progress)

    def read_layers(self) -> list[LayerRecord]:
        """All per-layer records of the latest inference."""
        records: list[LayerRecord] = []
        while page := self._call(messages.READ_LAYERS, len(records), MAX_MESSAGE_BYTES)[0]:
            records += page
        return records

    def read_log(self) -> str:
        """What the board logged since the last call, but for the words that errors carried."""
        text = self._log_kept + self._new_log(self.timeout_s)
        self._log_kept = ""
        return text

    def set_clock(self, mode: ClockMode) -> None:
        """Changes the clock mode of the core, and with it perhaps the ticks per second."""
        self._call(messages.SET_CLOCK, mode)

    def reset_state(self) -> None:
        """Sets resource variables and state tensors as they are after `configure`."""
        self._call(messages.RESET_STATE)

    def reboot(self) -> None:
        """Restarts the board; `identify` tells when it is back."""
        self._call(messages.REBOOT)
        self._identity = None
        self._log_cursor = 0

    def arm_power(self, count: int, wait_ms: int) -> None:
        """Arms a window of ``count`` inferences; each wait for the trigger lasts ``wait_ms``.

        Nothing may be sent before the run has ended.
        """
        self._call(messages.ARM_POWER, count, wait_ms)

    def power_result(self) -> PowerRun:
        """How the latest power run ended; a board in the midst of one answers at its end."""
        run: PowerRun = self._call(messages.POWER_RESULT)[0]
        return run

    def keep_tensors(self, keep: bool) -> None:
        """From the next `configure` on, keeps every tensor readable, which needs a larger arena.

        Refused by boards without `Capability.ANY_TENSOR`.
        """
        self._call(messages.KEEP_TENSORS, keep)

    def describe_tensor(self, index: int) -> TensorInfo:
        """A kept tensor of subgraph 0 by its index in the model file; its size may be 0 bytes."""
        info: TensorInfo = self._call(messages.DESCRIBE_TENSOR, index)[0]
        return info

    def read_tensor(self, index: int, nbytes: int, on_progress: Progress | None = None) -> bytes:
        """The ``nbytes`` of a kept tensor, as after the latest inference; otherwise as an output.

        Refused when tensors were not kept at the latest `configure`, and before an inference.
        """
        return self._read(messages.READ_TENSOR, index, nbytes, on_progress)

    def select_counters(self, events: Sequence[int] = ()) -> int:
        """Counts these events per layer; without any, the board's own. Gives how many fit at once.

        Events are Arm's numbers. Refused by boards whose counters are fixed.
        """
        at_once: int = self._call(messages.SELECT_COUNTERS, tuple(events))[0]
        return at_once

    def close(self) -> None:
        """Closes the link; may be called twice."""
        self.link.close()

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
        try:
            yield from self._exchange.perform(call, pieces, timeout_s=timeout_s, depth=depth)
        except Refusal as refusal:
            words = "" if call is messages.READ_LOG else self._words()
            raise BoardRefused(
                f"{call.name}: refused ({refusal.status.words})",
                status=refusal.status.name,
                words=words,
                board=self.board,
                hint=_ADVICE.get(refusal.status),
            ) from None

    def _read(
        self, call: Call, index: int, nbytes: int, on_progress: Progress | None = None
    ) -> bytes:
        piece, depth = read_plan(self._identity or self.identify())
        pieces = [(index, start, min(piece, nbytes - start)) for start in range(0, nbytes, piece)]
        data = bytearray()
        replies = self._calls(call, pieces, depth=depth)
        for (_, _, length), (part,) in zip(pieces, replies, strict=True):
            if len(part) != length:
                raise self.link.failure(LinkError, f"{len(part)} bytes instead of {length}")
            data += part
            if on_progress:
                on_progress(len(data), nbytes)
        return bytes(data)

    def _words(self) -> str:
        """The last lines of the log; what is before them waits for `read_log`."""
        with suppress(BoardError):
            lines = self._new_log(_LOG_TIMEOUT_S).splitlines(keepends=True)
            self._log_kept += "".join(lines[:-_WORDS_LINES])
            return "".join(lines[-_WORDS_LINES:]).strip()
        return ""

    def _new_log(self, timeout_s: float) -> str:
        log = bytearray()
        for _ in range(_LOG_PAGES):
            self._log_cursor, page = next(
                self._calls(messages.READ_LOG, [(self._log_cursor,)], timeout_s=timeout_s)
            )
            if not page:
                break
            log += page
        return log.decode(errors="replace")

    def _other_protocol(self, version: int) -> WrongFirmware:
        newer = version > PROTOCOL_VERSION
        return WrongFirmware(
            f"identify: the board speaks version {version} of the protocol, "
            f"this pytest-autodeploy version {PROTOCOL_VERSION}",
            board=self.board,
            hint="update pytest-autodeploy" if newer else "flash the board with newer firmware",
        )
