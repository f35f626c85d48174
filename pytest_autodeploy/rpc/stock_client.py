"""The client of a board that AutoDeploy has flashed: our calls, as far as its firmware has them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NoReturn

from pytest_autodeploy.base.errors import Unsupported
from pytest_autodeploy.rpc import calls
from pytest_autodeploy.rpc.calls import Call
from pytest_autodeploy.rpc.client import Progress, ValidatorClient
from pytest_autodeploy.rpc.inference import Inferred, split
from pytest_autodeploy.rpc.messages import (
    BoardKind,
    BoardReport,
    Capability,
    ClockMode,
    Identity,
    LayerRecord,
    ModelState,
    ProfileTiming,
    ResetCause,
    Status,
)
from pytest_autodeploy.rpc.stock_calls import RESET, Expected, StockCalls, wrong
from pytest_autodeploy.rpc.stock_checks import check_fit, check_layers, name_layers
from pytest_autodeploy.rpc.stock_link import MAX_BODY_BYTES, StockLink
from pytest_autodeploy.rpc.stock_stats import Statistics

_CANNOT = {
    calls.INVOKE.name: "it only times the layers of the first inference since its start",
    calls.SET_CLOCK.name: "it has no clock modes; leave --evb-clock out",
    calls.SELECT_COUNTERS.name: "its counters are built in; leave --evb-counters out",
    calls.REBOOT.name: "it does not restart when it is asked to",
    calls.ARM_POWER.name: "it has no power window",
}
"""Why a call has no place in that firmware; of the others its name says enough."""


class StockClient(ValidatorClient):
    """Calls a board that AutoDeploy has flashed; `prove` comes first.

    What its firmware cannot do raises Unsupported, which says why.
    """

    def __init__(self, link: StockLink, *, board: str, core: str, timeout_s: float) -> None:
        super().__init__(link, timeout_s)
        self._own = StockCalls(link, timeout_s)
        self._name = board
        self._core = core
        self._proven: tuple[Expected, Statistics] | None = None
        self._layers: list[LayerRecord] = []

    def prove(self, expected: Expected) -> Identity:
        """Set the model up unless somebody has, and see that it may be the one expected.

        The firmware does not tell its model: sizes and layers are all that can be compared. Raises
        WrongFirmware, BoardRefused, or another BoardError.
        """
        found = self._own.statistics()
        if self._proven != (expected, found):
            self._proven = None
            check_fit(self.board, expected, found)
            check_layers(self.board, expected, found)  # of whoever was here before
            found = self._after_first_inference(expected, found)
            check_layers(self.board, expected, found)
            self._proven, self._layers = (expected, found), name_layers(expected, found)
        return self.identify()

    def identify(self) -> Identity:
        """What is known of the board; its SHA-256 is empty, as the firmware tells none."""
        _, known = self._known_now()
        return Identity(
            protocol_version=0,
            kind=BoardKind.HARDWARE,
            board=self._name,
            core=self._core,
            build_id="",
            model_sha256=b"",
            engine="TFLM",
            engine_version=f"of AutoDeploy's validator, {known.layout.config_words}-word layout",
            capabilities=Capability.LAYER_PROFILE if known.layers else Capability(0),
            clock=ClockMode.HIGH_PERFORMANCE,
            clocks_hz=(0, 0),
            tick_hz=1_000_000,
            max_message_bytes=MAX_BODY_BYTES,
            window_bytes=MAX_BODY_BYTES,
            max_invocations=1,
            counters=known.counters,
            session=0,
        )

    def configure(self, arena_bytes: int = 0) -> ModelState:
        """The model as `prove` has set it up; the size of its arena, which nobody tells, is 0."""
        if arena_bytes:
            self._cannot(calls.CONFIGURE, "its arena is built in; leave --evb-arena-kb out")
        expected, known = self._known_now()
        sizes = len(expected.inputs), len(expected.outputs)
        layers = len(known.layers) or known.capacity
        return ModelState(0, known.arena_used_bytes, *sizes, layers, 0)

    def write_input(
        self,
        index: int,
        data: bytes | bytearray | memoryview,
        on_progress: Progress | None = None,
    ) -> None:
        """Nothing is kept for later: inputs go with `infer`."""
        del data, on_progress
        if index:
            self._cannot(calls.WRITE_INPUT, self._takes_one())

    def infer(
        self, inputs: Sequence[bytes], output_sizes: Sequence[int], timeout_s: float | None = None
    ) -> Inferred:
        """One inference on input 0; it has no time."""
        if len(inputs) > 1:
            self._cannot(calls.INFER, self._takes_one())
        if self._known_now()[0].stateful:
            self._cannot(calls.INFER, "it cannot set a model's state as before its first inference")
        data = self._own.infer(inputs[0], sum(output_sizes), timeout_s)
        return Inferred(0, False, split(data, output_sizes))

    def infer_each(
        self,
        samples: Iterable[Sequence[bytes]],
        output_sizes: Sequence[int],
        *,
        overlap: bool = False,
        timeout_s: float | None = None,
    ) -> Iterator[Inferred]:
        """One inference per sample, one at a time."""
        del overlap
        for inputs in samples:
            yield self.infer(inputs, output_sizes, timeout_s)

    def profile(self, timeout_s: float | None = None) -> ProfileTiming:
        """That of the first inference since the board's start, which `prove` has seen to."""
        del timeout_s
        layers = self.read_layers()
        return ProfileTiming(sum(layer.ticks for layer in layers), 0, True, len(layers))

    def read_layers(self) -> list[LayerRecord]:
        """The layers of the first inference since the board's start, in microseconds."""
        if not self._known_now()[1].layers:
            self._cannot(calls.PROFILE, f"it has run without its profiler since its start; {RESET}")
        return list(self._layers)

    def describe_board(self) -> BoardReport:
        """Nothing is known."""
        return BoardReport((), 0, ResetCause.UNKNOWN, "", 0)

    def read_log(self) -> str:
        """It logs to SWO, not here."""
        return ""

    def _calls(
        self,
        call: Call,
        pieces: Sequence[tuple[Any, ...]],
        *,
        depth: int = 1,
        timeout_s: float | None = None,
    ) -> Iterator[list[Any]]:
        """No frame of ours may reach that firmware, which waits for its end for ever."""
        del pieces, depth, timeout_s
        self._cannot(call, _CANNOT.get(call.name, "it has no such call"))

    def _cannot(self, call: Call, why: str) -> NoReturn:
        raise Unsupported(
            f"{call.name}: stock firmware cannot do this: {why}",
            status=Status.UNSUPPORTED.name,
            text="",
            board=self.board,
        )

    def _takes_one(self) -> str:
        return f"it takes input 0 only, and the model has {len(self._known_now()[0].inputs)}"

    def _known_now(self) -> tuple[Expected, Statistics]:
        if self._proven is None:
            raise wrong(self.board, "it has not been asked for a model yet")
        return self._proven

    def _after_first_inference(self, expected: Expected, found: Statistics) -> Statistics:
        """The first inference may be long ago; one of our own ends what others began to write."""
        data = b""
        if not found.arena_used_bytes:
            self._own.configure(found.layout, expected)
            data = bytes(expected.inputs[0]) if expected.inputs else b""
        self._own.infer(data, sum(expected.outputs))
        return self._own.statistics()
