"""What a board that AutoDeploy has flashed is asked for, made of the calls that move blocks."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass

from pytest_autodeploy.base.errors import BoardRefused, LinkError, OtherModel, WrongFirmware
from pytest_autodeploy.rpc.messages import Status
from pytest_autodeploy.rpc.stock_blocks import (
    MOST_SENT_BYTES,
    NO_BLOCK,
    Answer,
    Block,
    Blocks,
    Command,
)
from pytest_autodeploy.rpc.stock_link import StockLink
from pytest_autodeploy.rpc.stock_stats import (
    MOST_BYTES,
    Layout,
    NoStatistics,
    Statistics,
    parse,
)

FIRST_ANSWER_S = 5.0
"""For statistics, which come within milliseconds when they come."""

RESET = "press its reset button, then start the run again"

Ask = Callable[[bool], Block]
"""Asks for a block: with True for a further one."""


@dataclass(frozen=True)
class Expected:
    """The model that a board should run: bytes of its inputs and outputs, operators as they run.

    ``operators`` are empty where their order depends on the inputs.
    """

    name: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    operators: tuple[str, ...]
    stateful: bool


def wrong(board: str, what: str) -> WrongFirmware:
    """Why a board that AutoDeploy has flashed is not the one that was expected."""
    hint = f"deploy the model with AutoDeploy anew, or {RESET}"
    return OtherModel(f"stock firmware: {what}", board=board, hint=hint)


class StockCalls:
    """Statistics, configuration and inferences over one link."""

    def __init__(self, link: StockLink, timeout_s: float) -> None:
        self._link = link
        self._blocks = Blocks(link)
        self._timeout_s = timeout_s

    def statistics(self) -> Statistics:
        """The statistics as they are now. Raises WrongFirmware for what is none."""
        timeout_s = min(self._timeout_s, FIRST_ANSWER_S)

        def ask(_again: bool) -> Block:
            answer = self._blocks.fetch(timeout_s)
            if answer.status:
                raise self._failed("statistics", answer, Status.INTERNAL_ERROR)
            return answer.block

        start = self._start(ask)
        whole = self._whole("PartStats", lambda again: ask(again) if again else start, MOST_BYTES)
        try:
            return parse(whole)
        except NoStatistics as error:
            what = f"its statistics are not those of a known version: {error}"
            raise wrong(self._link.board, what) from None

    def configure(self, layout: Layout, expected: Expected) -> None:
        """Set the model up, with its profiler on; to be done once per start of the board.

        A second time TFLM would take memory of the arena again, and fail for want of it.
        """
        counts = [len(expected.inputs), len(expected.outputs)]
        words = [1, sum(expected.inputs), sum(expected.outputs), 0, *counts, 0]
        words = [*words[: layout.config_words], *expected.inputs, *expected.outputs]
        data = struct.pack(f"<{len(words)}I", *words)
        if self._blocks.send(Block.of("Model Config", Command.GENERIC, data), self._timeout_s):
            raise BoardRefused(
                "configure: refused by stock firmware: TFLM could not prepare its model",
                status=Status.INTERNAL_ERROR.name,
                text="",
                board=self._link.board,
                hint="deploy it anew with --arena-size-scratch-buffer-padding",
            )

    def infer(self, data: bytes, size: int, timeout_s: float | None = None) -> bytes:
        """One inference on input 0: the ``size`` bytes of all outputs, one behind the other.

        Without ``data`` input 0 stays as it is. Further pieces of outputs are asked for with empty
        blocks: the firmware of late 2024 copies what it is sent over them.
        """
        first, more = self._sent(data), Block.of("Empty Tensor", Command.WRITE)

        def ask(again: bool) -> Block:
            answer = self._blocks.compute(more if again else first, timeout_s or self._timeout_s)
            if answer.status:
                raise self._failed("infer", answer, Status.INVOKE_FAILED)
            return answer.block

        found = self._whole("PartTensor", ask, size)
        if len(found) != size:
            what = f"its outputs have {len(found)} bytes, those of the model {size}"
            raise wrong(self._link.board, what)
        return found

    def _sent(self, data: bytes) -> Block:
        """Send an input that does not fit a block; the block that starts the inference."""
        if len(data) <= MOST_SENT_BYTES:
            return Block.of("Input Tensor", Command.GENERIC, data)
        for start in range(0, len(data), MOST_SENT_BYTES):
            piece = Block.of("Input Chunk", Command.WRITE, data[start : start + MOST_SENT_BYTES])
            if status := self._blocks.send(piece, self._timeout_s):
                raise self._failed("write_input", Answer(status, NO_BLOCK), Status.BAD_ARGUMENT)
        return Block.of("Empty Tensor", Command.GENERIC)

    def _start(self, ask: Ask) -> Block:
        """The first block, behind what somebody else began to fetch and did not end."""
        skipped = 0
        block = ask(False)
        while block.command != Command.GENERIC or block.description == "FullPMUStats":
            skipped += max(1, len(block.data))
            if skipped > 2 * MOST_BYTES:
                raise self._link.failure(LinkError, "its statistics have no start")
            block = ask(False)
        return block

    def _whole(self, part: str, ask: Ask, most: int) -> bytes:
        """The data of all blocks up to the last; those before it are called ``part``."""
        block = ask(False)
        data = bytearray(block.data)
        while block.description == part:
            block = ask(True)
            data += block.data
            if not block.data or len(data) > most:
                raise self._link.failure(LinkError, f"pieces that do not end within {most} bytes")
        return bytes(data)

    def _failed(self, call: str, answer: Answer, status: Status) -> BoardRefused:
        said = answer.block.data.partition(b"\0")[0].decode(errors="replace")
        return BoardRefused(
            f"{call}: refused by stock firmware with status {answer.status}",
            status=status.name,
            text=said,
            board=self._link.board,
        )
