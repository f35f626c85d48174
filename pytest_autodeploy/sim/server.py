"""The loop of the simulated board: frames in, replies out, and the control channel beside it."""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from pytest_autodeploy.base import trace
from pytest_autodeploy.base.errors import AutodeployError
from pytest_autodeploy.rpc.framing import FrameScanner
from pytest_autodeploy.rpc.messages import BOARD_SILENCE_S
from pytest_autodeploy.rpc.service import dispatch
from pytest_autodeploy.sim.description import MAX_MESSAGE_BYTES
from pytest_autodeploy.sim.faults import Faults
from pytest_autodeploy.sim.throttle import ByteStream
from pytest_autodeploy.sim.validator import SimulatedValidator

FOREVER_S = 3600.0


class Server:
    """Answers the host on ``stream``; `control` may run beside it in another thread."""

    def __init__(self, validator: SimulatedValidator, stream: ByteStream, faults: Faults) -> None:
        self._validator = validator
        self._stream = stream
        self._faults = faults
        self._turn = threading.Lock()

    def serve(self) -> NoReturn:
        """Answer requests until the process ends."""
        scanner = FrameScanner(MAX_MESSAGE_BYTES)
        while True:
            data = self._stream.read(BOARD_SILENCE_S if scanner.pending else FOREVER_S)
            for body in scanner.feed(data) if data else scanner.idle():
                self._stream.write(self._answer(body))

    def _answer(self, body: bytes) -> bytes:
        with self._turn:
            self._faults.strike(body)
            validator = self._faults.spoil(self._validator)
            own = self._validator
            reply = dispatch(body, validator, own.log, MAX_MESSAGE_BYTES, own.sessions)
            return self._faults.garble(body, reply)

    def control(self, lines: BinaryIO, reply: Callable[[dict[str, Any]], None]) -> NoReturn:
        """Carry out the JSON lines of the host; the process ends with them."""
        with contextlib.suppress(OSError):  # the host may be gone before its answer
            for line in lines:
                with trace.span("control"), self._turn:
                    answer = self._command(line)
                reply(answer)
        os._exit(0)

    def _command(self, line: bytes) -> dict[str, Any]:
        try:
            command = json.loads(line)
            match command["op"]:
                case "flash":
                    model, arena = Path(command["model"]), command.get("arena_bytes", 0)
                    sha256 = self._validator.flash(model, arena, command.get("build_id"))
                    return {"ok": True, "sha256": sha256}
                case "stream":  # simulated time passes only when the meter lets it
                    return {"ok": True}
                case "trigger":
                    self._validator.power.trigger(bool(command["high"]))
                    return {"ok": True}
                case "advance":
                    stretches = self._validator.power.advance(command["seconds"])
                    return {"ok": True, "stretches": [s.as_list() for s in stretches]}
                case "reset":
                    self._validator.reset()
                    return {"ok": True}
                case other:
                    return {"ok": False, "error": f"unknown op {other!r}"}
        except (AutodeployError, OSError) as error:
            return {"ok": False, "error": str(error)}
        except Exception as error:
            return {"ok": False, "error": f"{line!r}: {type(error).__name__}: {error}"}
