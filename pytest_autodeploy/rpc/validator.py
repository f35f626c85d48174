"""What a board does for each call, as `service.dispatch` asks it to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pytest_autodeploy.rpc.messages import (
    BoardReport,
    ClockMode,
    Identity,
    Inference,
    InvokeTiming,
    LayerRecord,
    ModelState,
    PowerRun,
    ProfileTiming,
    Status,
    TensorInfo,
)


class Refused(Exception):
    """A validator's answer to a call that it cannot or may not do; ``text`` go to the log."""

    def __init__(self, status: Status, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.text = text


class Validator(Protocol):
    """What a board does for each call; any method may raise `Refused`.

    ``read_log`` is missing here: `dispatch` answers it from the `Log`.
    """

    def identify(self) -> Identity:
        """What the board is and runs; `dispatch` fills in the session."""

    def configure(self, arena_bytes: int) -> ModelState:
        """Prepares the model in an arena; 0: the size it was flashed with."""

    def describe_input(self, index: int) -> TensorInfo:
        """An input tensor."""

    def describe_output(self, index: int) -> TensorInfo:
        """An output tensor."""

    def write_input(self, index: int, offset: int, data: bytes) -> None:
        """Stores bytes of an input tensor."""

    def invoke(self, count: int) -> InvokeTiming:
        """Runs the model."""

    def read_output(self, index: int, offset: int, length: int) -> bytes:
        """Exactly ``length`` bytes of an output tensor."""

    def read_layers(self, first: int, count: int) -> tuple[int, Sequence[LayerRecord]]:
        """How many records the latest profile has, and some; what does not fit is cut off."""

    def set_clock(self, mode: ClockMode) -> None:
        """Changes the clock mode."""

    def reset_state(self) -> None:
        """Resource variables and state tensors as after configure."""

    def reboot(self) -> None:
        """Asks for a restart, which has to wait until the answer is on its way."""

    def arm_power(self, count: int, wait_ms: int) -> None:
        """Starts a power run of ``count`` inferences when the answer is on its way."""

    def power_result(self) -> PowerRun:
        """How the latest power run ended."""

    def keep_tensors(self, keep: bool) -> None:
        """Whether every tensor is kept from the next configure on."""

    def describe_tensor(self, index: int) -> TensorInfo:
        """A kept tensor of the main subgraph."""

    def read_tensor(self, index: int, offset: int, length: int) -> bytes:
        """Exactly ``length`` bytes of a kept tensor."""

    def select_counters(self, events: Sequence[int]) -> int:
        """The events that layers count, none: the board's own; gives how many fit at once."""

    def infer(self, inputs: bytes) -> Inference:
        """One inference on all inputs, one behind the other; on none: as written."""

    def profile(self) -> ProfileTiming:
        """One inference with the profiler."""

    def describe_board(self) -> BoardReport:
        """Where things are, and how the board has started."""

    def begin_model(self, size_bytes: int, sha256: bytes) -> None:
        """Begins to load a model; the one that was there is gone."""

    def write_model(self, offset: int, data: bytes) -> None:
        """Stores bytes of the model; they come in order, and may come again."""

    def prove_model(self) -> bytes:
        """The SHA-256 of the bytes that are there, when it is that of ``begin_model``."""
