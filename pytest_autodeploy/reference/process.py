"""The conversation with the child process, whose every failure has words."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pytest_autodeploy.base.errors import BrokenPackage, ReferenceFailed
from pytest_autodeploy.model.litert import litert_content
from pytest_autodeploy.reference.child import (
    PROGRAM,
    Child,
    ChildDiedError,
    ChildTimeoutError,
    Spares,
)

if TYPE_CHECKING:
    from pytest_autodeploy.model.graph import Model
    from pytest_autodeploy.reference.messages import Message

LONGEST_REASON = 300

_ENGINES = {"tensorflow": "TensorFlow", "tflm": "TFLM"}


def _shorten(reason: object) -> str:
    return " ".join(str(reason).split())[:LONGEST_REASON]


class PathFailed(Exception):
    """One set of kernels cannot; the others may."""


class Process:
    """A child that runs one model, started when it is needed and again after it has ended.

    ``program`` is the module that serves the requests. A child of ``spares`` has run other models:
    when it crashes, that may be what one of them left, so a new one has to crash as well.
    """

    def __init__(
        self,
        model: Model,
        paths: Sequence[str],
        timeout_s: float,
        program: str = PROGRAM,
        spares: Spares | None = None,
    ) -> None:
        self._program = program
        self._model = model
        self._paths = paths
        self._timeout_s = timeout_s
        self._spares = spares
        self._child: Child | None = None
        self._second_hand = False
        self._owes = False
        self._unprepared: deque[str] = deque()
        self._unusable: dict[str, str] = {}

    @property
    def pid(self) -> int | None:
        """Process id of the child, None when there is none."""
        return None if self._child is None else self._child.pid

    def start(self) -> Child:
        """Let the child prepare every path that it was not seen to fail on, without waiting."""
        if self._child is None:
            self._child = self._spare() or Child(self._program)
            self._unprepared = deque(path for path in self._paths if path not in self._unusable)
            contents = [self._model.content, litert_content(self._model)]
            model = self._message("model", None, contents)
            prepare = [self._message("prepare", path, ()) for path in self._unprepared]
            self._child.post([model, *prepare])
        return self._child

    def _spare(self) -> Child | None:
        """One from the spares, but for what follows a crash."""
        had, self._second_hand = self._second_hand, False
        if self._spares is None or had or self._unusable:
            return None
        child = self._spares.take(self._program)
        self._second_hand = child is not None
        return child

    def until(self) -> float:
        """When what starts now has to be over, in the seconds of ``time.monotonic``."""
        return time.monotonic() + self._timeout_s

    def ask(
        self, op: str, path: str, payloads: Sequence[bytes], until: float, **details: Any
    ) -> Message:
        """Send a request and take its first reply. Raises PathFailed and ReferenceFailed."""
        self._prepare(until)
        if path in self._unusable:
            raise PathFailed(self._unusable[path])
        second_hand = self._second_hand
        try:
            return self._exchange(path, self._message(op, path, payloads, **details), until)
        except PathFailed:
            if self._child is not None or not second_hand:
                raise
        return self.ask(op, path, payloads, until, **details)

    def receive(self, path: str, until: float) -> Message:
        """The next reply to the latest request. Raises PathFailed and ReferenceFailed."""
        return self._exchange(path, None, until)

    def close(self) -> None:
        """End the child. Idempotent."""
        if self._child is not None:
            self._child.close()
            self._child = None
            self._owes = False

    def rest(self) -> None:
        """Leave the child to others, where that can be; else end it. Idempotent."""
        child = self._child
        if child is None or self._spares is None or self._unprepared or self._owes:
            self.close()
            return
        self._child, self._second_hand = None, False
        self._spares.give(self._program, child)

    def _prepare(self, until: float) -> None:
        """Wait until every path is prepared or known to be unusable."""
        self.start()
        while self._unprepared:
            path = self._unprepared.popleft()
            second_hand = self._second_hand
            try:
                self.receive(path, until)
            except PathFailed as reason:
                if self._child is not None or not second_hand:
                    self._unusable[path] = str(reason)
            self.start()

    def _exchange(self, path: str, request: Message | None, until: float) -> Message:
        """Send the request, if any, and take the next reply, which is about ``path``."""
        child = self.start()
        try:
            self._owes = True
            if request is not None:
                child.send(request, until - time.monotonic())
            header, payloads = child.receive(until - time.monotonic())
            self._owes = bool(header.get("more"))
        except BaseException as error:  # Ctrl-C too: it leaves half a message in the pipes
            self.close()
            raise self._explain(error, path) from None
        if "package" in header:
            raise BrokenPackage(header["package"], _shorten(header["error"]))
        if "error" in header:
            raise PathFailed(_shorten(header["error"]))
        return header, payloads

    def _explain(self, error: BaseException, path: str) -> BaseException:
        engine = _ENGINES.get(path, "LiteRT")
        if isinstance(error, ChildTimeoutError):
            return ReferenceFailed(
                f"{self._model.name}: {engine} did not finish ({path} kernels)",
                seconds=self._timeout_s,
                hint="allow it more time, or fewer inputs",
            )
        if isinstance(error, ChildDiedError) and error.crashed:
            return PathFailed(f"{engine} {error}")
        if isinstance(error, ChildDiedError):
            return ReferenceFailed(
                f"{self._model.name}: {engine} {error} ({path} kernels)",
                hint="it was killed from outside; is the memory of this PC full?",
            )
        return error

    def _message(
        self, op: str, path: str | None, payloads: Sequence[bytes], **details: Any
    ) -> Message:
        # The child's own deadline is the longer one: this side's is to be the one that is told.
        limit_s = 2 * self._timeout_s + 10
        return {"op": op, "path": path, "limit_s": limit_s, **details}, list(payloads)
