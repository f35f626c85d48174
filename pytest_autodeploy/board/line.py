"""The serial line to an EVB: its port found, locked and opened, and the board's answer awaited."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_autodeploy.base.errors import (
    BoardDied,
    BoardError,
    BoardRefused,
    BoardTimeout,
    BoardUnavailable,
    LinkError,
    WrongFirmware,
)
from pytest_autodeploy.base.progress import show_task
from pytest_autodeploy.board.lock import LOCK_TIMEOUT_S, BoardLocks
from pytest_autodeploy.board.silence import things_to_check
from pytest_autodeploy.board.usb_ports import exists, find_port, port_identity, wanted
from pytest_autodeploy.board.use import Use
from pytest_autodeploy.rpc.client import ValidatorClient
from pytest_autodeploy.rpc.link import Link

if TYPE_CHECKING:
    from pytest_autodeploy.board.probe import Probe
    from pytest_autodeploy.catalog.boards import BoardSpec
    from pytest_autodeploy.rpc.messages import BoardKind, Identity

SILENT = (BoardTimeout, BoardDied, LinkError)
"""What a board raises that does not answer, or not with what a board of ours says."""

_FOREIGN = (BoardRefused, WrongFirmware)
_POLL_S = 0.05
_FRESH = "it may crash at its start: look at it with a debugger, or try a smaller model"


@dataclass(frozen=True)
class Timeouts:
    """Seconds to wait for what may take its time.

    ``lock_s``: for a board that another run uses; ``answer_s``: for one answer of a board of which
    nothing is known; ``restart_s``: for a board to come back after a flash or a reset;
    ``vanish_s``: for the port of a board that failed to vanish.
    """

    lock_s: float = LOCK_TIMEOUT_S
    answer_s: float = 2.0
    restart_s: float = 15.0
    vanish_s: float = 0.5


class BoardLine:
    """The line to the board that is wired to ``probe``.

    ``port`` is its device or URL when it is not to be found by itself. What answers as another
    ``kind`` of board is refused with WrongFirmware.
    """

    def __init__(
        self,
        board_id: str,
        spec: BoardSpec,
        probe: Probe,
        *,
        port: str | None,
        timeout_s: float,
        timeouts: Timeouts,
        kind: BoardKind,
    ) -> None:
        self._board = board_id
        self._spec = spec
        self._probe = probe
        self._fixed_port = port
        self._timeout_s = timeout_s
        self._timeouts = timeouts
        self._kind = kind
        self.locks = BoardLocks(board_id, timeouts.lock_s)
        self.client: ValidatorClient | None = None
        self.use = Use()

    @property
    def port(self) -> str | None:
        """The open port."""
        return self.client.link.url if self.client else None

    def ask(self) -> Identity | None:
        """What the board says now; None when its port is not there or nobody of ours answers.

        Raises BoardUnavailable when the port cannot be opened or is not the only candidate.
        """
        try:
            identity = self._identify()
        except (*SILENT, *_FOREIGN):
            self.close_port()
            return None
        return identity and self._check(identity)

    def await_answer(self, task: str) -> Identity:
        """Poll for the port and for an answer once ``task`` restarted the board.

        Raises BoardDied when the port is away, BoardTimeout when the board is silent, and
        BoardUnavailable as ``ask`` does.
        """
        with show_task(f"waiting for {self._board} after {task}"):
            return self._await_answer(task)

    def _await_answer(self, task: str) -> Identity:
        began = time.monotonic()
        while True:
            last: BoardError | None = None
            try:
                identity = self._identify()
                if identity is not None:
                    return self._check(identity)
            # USB ports go with the reset and may come back under another name, for which udev opens
            # them only after a moment: until then they are missing, or not permitted.
            except (BoardUnavailable, *SILENT) as error:
                last = error
            silent = self.port
            self.close_port()
            seconds = time.monotonic() - began
            if seconds >= self._timeouts.restart_s:
                raise self._no_answer(task, last, silent, seconds)
            time.sleep(_POLL_S)

    def close_port(self) -> None:
        """Close the port; may be called twice."""
        if self.client is not None:
            self.client.close()
            self.client = None

    def vanished(self) -> bool:
        """Whether the open port goes away; that takes a moment after the board failed."""
        until = time.monotonic() + self._timeouts.vanish_s
        while self.port is not None and exists(self.port):
            if time.monotonic() >= until:
                return False
            time.sleep(_POLL_S)
        return True

    def _identify(self) -> Identity | None:
        if self.client is None:
            port = self._find()
            if port is None:
                return None
            self.locks.hold(port_identity(port))
            self.client = ValidatorClient(Link(port, board=self._board))
        # Firmware of others never answers: eRPC has no reply that says no, so silence is all there
        # is.
        self.client.timeout_s = self._timeouts.answer_s
        identity = self.client.identify()
        self.client.timeout_s = self._timeout_s
        return identity

    def _find(self) -> str | None:
        if self._fixed_port is not None:
            return self._fixed_port if exists(self._fixed_port) else None
        return find_port(self._spec, self._board, self._probe.serial_number())

    def _check(self, identity: Identity) -> Identity:
        if identity.kind != self._kind:
            raise WrongFirmware(
                f"{self.port} answers as a board of the kind {identity.kind.name.lower()!r}",
                board=self._board,
                hint=f"It has to be {self._kind.name.lower()!r}: check --evb-port.",
            )
        return identity

    def _no_answer(
        self, task: str, last: BoardError | None, port: str | None, seconds: float
    ) -> BoardError:
        if isinstance(last, BoardUnavailable):
            return last
        if last is not None:
            return BoardTimeout(
                f"{task}: the board stays silent",
                board=self._board,
                seconds=seconds,
                hint=f"{last.what}\n  {things_to_check(port or '', _FRESH)}",
            )
        looked = f"looked for {self._fixed_port}" if self._fixed_port else ""
        return BoardDied(
            f"{task}: the port of the board does not come back",
            board=self._board,
            seconds=seconds,
            hint=looked or wanted(self._spec, self._probe.serial_number()),
        )
