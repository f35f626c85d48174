"""A simulated board for tests: the real process, with a client on its port."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from pytest_autodeploy.base.errors import BoardError
from pytest_autodeploy.board.process import ControlledProcess
from pytest_autodeploy.rpc.client import ValidatorClient
from pytest_autodeploy.rpc.link import Link

Array = np.ndarray[Any, Any]

PATIENCE_S = 30.0


class SimulatedBoard:
    """The process ``python -m pytest_autodeploy.sim``, its control channel and its RPC."""

    def __init__(self, folder: Path, arguments: Sequence[str]) -> None:
        self.log = folder / "log.txt"
        self.folder = folder
        self.process = ControlledProcess(
            "sim", "pytest_autodeploy.sim", [*arguments, "--log", str(self.log)], self.log
        )
        self.ready = self.process.reply("start", PATIENCE_S)
        self.client = ValidatorClient(Link(self.ready["port"], board="sim"), PATIENCE_S)

    def control(self, **message: Any) -> dict[str, Any]:
        """Send a line to the control channel and return the answer."""
        return self.process.request(str(message["op"]), message, PATIENCE_S)

    def flash(self, content: bytes, arena_bytes: int = 0) -> dict[str, Any]:
        """Flash a model."""
        path = self.folder / "model.tflite"
        path.write_bytes(content)
        answer = self.control(op="flash", model=str(path), arena_bytes=arena_bytes)
        with suppress(BoardError):  # a test may have closed the client
            self.client.identify()  # the board has restarted
        return answer

    def run(self, *inputs: Array) -> list[Array]:
        """The outputs for these inputs; the model has to be configured."""
        for index, array in enumerate(inputs):
            self.client.write_input(index, array.tobytes())
        self.client.invoke()
        return [self.output(0)]

    def output(self, index: int) -> Array:
        """An output of the latest inference."""
        info = self.client.describe_output(index)
        data = self.client.read_output(index, info.size_bytes)
        return np.frombuffer(data, info.dtype).reshape(info.shape)


@contextmanager
def simulated_board(
    folder: Path, *arguments: str, board: str = "apollo4p_evb"
) -> Iterator[SimulatedBoard]:
    """A running simulated board; ``arguments`` are added to its command line."""
    simulated = SimulatedBoard(folder, ["--board", board, *arguments])
    try:
        yield simulated
    finally:
        simulated.client.close()
        simulated.process.close()
