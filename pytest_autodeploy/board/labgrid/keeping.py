"""The run's side of its keeper, the process that holds its place."""

from __future__ import annotations

import json
import logging
import queue
import sys
import threading
from collections.abc import Sequence

from pytest_autodeploy.base.process import Child, Finished
from pytest_autodeploy.base.progress import show_task
from pytest_autodeploy.board.labgrid.client import LabError, clean_environment
from pytest_autodeploy.board.labgrid.keeper import DONE
from pytest_autodeploy.board.labgrid.owner import Owner

LOG = logging.getLogger(__name__)

MODULE = "pytest_autodeploy.board.labgrid.keeper"
START_S = 30.0
"""For a process to start, and for its answer to come, beside what the command may take."""

GIVE_BACK_S = 20.0
"""For a place to be given back when the run ends; the keeper goes on without the run."""

_BY_ITSELF = "what it holds in the lab is given back without it: `labgrid-client who` tells"


class Keeper:
    """Runs labgrid-client for ``owner`` in a process that gives back what a killed run has."""

    def __init__(self, program: str, owner: Owner, board: str) -> None:
        self._board = board
        self._owner = owner
        self._lock = owner.sign("run")
        # -P: else a user's json.py in the start folder would be imported in place of Python's.
        command = [sys.executable, "-P", "-m", MODULE, program, owner.host, owner.user]
        environment = clean_environment(**owner.environment)
        self._child = Child(command, own_group=True, outlives=True, environment=environment)
        self._replies: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._asked = False

    @property
    def pid(self) -> int:
        """The process id of the keeper."""
        return self._child.pid

    @property
    def alive(self) -> bool:
        """Whether the keeper runs."""
        return self._child.end(0) is None

    def __call__(
        self, command: Sequence[str], timeout_s: float, *, abandonable: bool = False
    ) -> Finished:
        """Run a command of labgrid-client. Raises LabError, and OSError when it cannot start."""
        message = {
            "command": list(command),
            "timeout_s": timeout_s,
            "abandonable": abandonable,
        }
        self._asked = True
        self._send(message)
        try:
            line = self._replies.get(timeout=timeout_s + START_S)
        except queue.Empty:
            raise LabError(
                "the keeper of its place does not answer",
                board=self._board,
                seconds=timeout_s + START_S,
                hint="this PC may be busy with other work: run it again",
            ) from None
        if not line:
            raise self._died()
        self._asked = False
        reply = json.loads(line)
        if "why" in reply:
            raise OSError(0, reply["why"])
        return Finished(reply["code"], reply["output"], reply["errors"])

    def close(self, *, clean: bool) -> bool:
        """End it; when not all is given back yet (not ``clean``), it does that. Idempotent.

        False when it did not end in time, or died: then things may still be held.
        """
        if clean and not self._asked:
            try:
                self._send(DONE)
            except LabError:
                clean = False
        self.leave()
        with show_task(f"giving back the place of {self._board}"):
            end = self._child.end(GIVE_BACK_S)
        if end is not None:
            self._reader.join(1.0)
            self._child.close()
        self._lock.release()
        if end is None or end.code != 0:
            LOG.warning(
                "%s: its keeper %s: %s", self._board, end.how if end else "works on", _BY_ITSELF
            )
            return False
        self._owner.forget()
        return True

    def leave(self) -> None:
        """Let it give back what is held, without waiting for it. Idempotent."""
        if not self._child.stdin.closed:
            try:
                self._child.stdin.close()
            except OSError:
                LOG.debug("the keeper of %s died before its end", self._board)

    def _read(self) -> None:
        for line in self._child.stdout:
            self._replies.put(line)
        self._replies.put(b"")

    def _send(self, message: object) -> None:
        try:
            self._child.stdin.write(json.dumps(message).encode() + b"\n")
            self._child.stdin.flush()
        except (OSError, ValueError):
            raise self._died() from None

    def _died(self) -> LabError:
        end = self._child.end(1.0)
        how = self._child.ending(end) if end else "does not answer"
        return LabError(f"the keeper of its place {how}", board=self._board, hint="run it again")
