"""A way to a port behind ssh, as labgrid's own clients take it.

labgrid-client's forwards live only as long as its own commands, so that ssh is started here, with
the options of labgrid/util/ssh.py (26.0): keys alone, no questions.
"""

from __future__ import annotations

import contextlib
import socket
import subprocess
import time

from pytest_autodeploy.base.closable import Closing
from pytest_autodeploy.base.process import END_TIMEOUT_S, start_bound
from pytest_autodeploy.base.progress import show_task
from pytest_autodeploy.board.labgrid.client import LabError

CONNECT_S = 30
_POLL_S = 0.05
_LOCAL = "127.0.0.1"


class Tunnel(Closing):
    """A port of this PC, ``port``, that leads to HOST:NUMBER as seen from ``proxy``.

    Raises LabError when there is no way within ``CONNECT_S`` seconds.
    """

    def __init__(self, proxy: str, host: str, number: int, board: str) -> None:
        self._board = board
        self._proxy = proxy
        self.port = _free_port()
        target = f"[{host}]:{number}" if ":" in host else f"{host}:{number}"
        command = [
            *("ssh", "-x", "-N", "-o", "LogLevel=ERROR", "-o", "BatchMode=yes"),
            *("-o", "ExitOnForwardFailure=yes", "-o", f"ConnectTimeout={CONNECT_S}"),
            *("-o", "ServerAliveInterval=10", "-o", "ServerAliveCountMax=3"),
            *("-L", f"{_LOCAL}:{self.port}:{target}", "--", proxy),
        ]
        try:
            self._ssh = start_bound(command, ())
        except OSError as error:
            raise self._failed(f"cannot run ssh: {error.strerror}") from None
        try:
            self._await()
        except BaseException:
            self.close()
            raise

    def _await(self) -> None:
        """Until ssh listens; a connection would already be one to the board."""
        until = time.monotonic() + CONNECT_S + 5
        with show_task(f"connecting to {self._board} through {self._proxy}"):
            while not _taken(self.port):
                if self._ssh.poll() is not None:
                    said = (
                        self._ssh.stderr.read().decode(errors="replace") if self._ssh.stderr else ""
                    )
                    raise self._failed(f"ssh ended: {said.strip() or 'it said nothing'}")
                if time.monotonic() > until:
                    raise self._failed("ssh does not connect", CONNECT_S + 5)
                time.sleep(_POLL_S)

    def _said(self) -> str:
        return self._ssh.stderr.read().decode(errors="replace").strip() if self._ssh.stderr else ""

    def close(self) -> None:
        """End ssh; may be called twice."""
        if self._ssh.poll() is None:
            self._ssh.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._ssh.wait(END_TIMEOUT_S)
        if self._ssh.stderr:
            self._ssh.stderr.close()

    def _failed(self, why: str, seconds: float | None = None) -> LabError:
        return LabError(
            f"no way through {self._proxy}: {why}",
            board=self._board,
            seconds=seconds,
            hint=f"`ssh {self._proxy}` has to work without a question",
        )


def _free_port() -> int:
    with socket.socket() as made:
        made.bind((_LOCAL, 0))
        return int(made.getsockname()[1])


def _taken(port: int) -> bool:
    with socket.socket() as tried:
        try:
            tried.bind((_LOCAL, port))
        except OSError:
            return True
    return False
