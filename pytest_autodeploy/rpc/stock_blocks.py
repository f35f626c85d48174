"""The three calls of neuralSPOT's generic data service, which move blocks of bytes."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from enum import IntEnum

from erpc.codec import CodecError, MessageInfo, MessageType

from pytest_autodeploy.base.errors import LinkError
from pytest_autodeploy.rpc.stock_link import StockLink
from pytest_autodeploy.rpc.wire import Int32, MessageCodec, Struct, Uint32

SERVICE_ID = 2
MOST_SENT_BYTES = 3000
"""Of data in one block: what AutoDeploy sends itself. A multiple of every element's size."""


class Method(IntEnum):
    """The calls, as neuralspot/ns-rpc/interfaces/GenericDataOperations.erpc numbers them."""

    SEND = 1
    FETCH = 2
    COMPUTE = 3


class Command(IntEnum):
    """What a block is for: to configure or infer, or a piece of a tensor."""

    GENERIC = 0
    WRITE = 4


@dataclass(frozen=True)
class Block(Struct):
    """A block on the wire. ``length`` is advice: the firmware goes by the length of ``data``."""

    length: Uint32
    element_type: Int32
    description: str
    command: Int32
    data: bytes

    @classmethod
    def of(cls, description: str, command: Command, data: bytes = b"") -> Block:
        """A block to be sent; elements are bytes, as AutoDeploy has it."""
        return cls(len(data), 0, description, command, data)


@dataclass(frozen=True)
class Answer:
    """What a call gave: its status, 0 when all is well, and a block unless it was a ``send``."""

    status: int
    block: Block


NO_BLOCK = Block.of("", Command.GENERIC)


class Blocks:
    """The calls over one link, one at a time, each within its deadline.

    None is repeated: the firmware would append a piece twice, or run another inference.
    """

    def __init__(self, link: StockLink) -> None:
        self._link = link
        self._sequence = secrets.randbelow(1 << 31)

    def send(self, block: Block, timeout_s: float) -> int:
        """Send a block; the status."""
        return self._call(Method.SEND, block, timeout_s).status

    def fetch(self, timeout_s: float) -> Answer:
        """Fetch a block of statistics."""
        return self._call(Method.FETCH, None, timeout_s)

    def compute(self, block: Block, timeout_s: float) -> Answer:
        """Send a block, of which the firmware computes another."""
        return self._call(Method.COMPUTE, block, timeout_s)

    def _call(self, method: Method, block: Block | None, timeout_s: float) -> Answer:
        self._sequence += 1
        self._link.begin(f"stock {method.name.lower()}", timeout_s)
        codec = MessageCodec()
        codec.start_write_message(
            MessageInfo(MessageType.kInvocationMessage, SERVICE_ID, method, self._sequence)
        )
        if block is not None:
            block.write(codec)
        self._link.send(bytes(codec.buffer))
        return self._reply(method)

    def _reply(self, method: Method) -> Answer:
        while True:
            codec = MessageCodec(self._link.receive())
            try:
                info = codec.start_read_message()
                if info.sequence != self._sequence:
                    continue  # the answer to who was here before
                found = (info.type, info.service, info.request)
                if found != (MessageType.kReplyMessage, SERVICE_ID, method):
                    raise CodecError("it answers another call")
                block = NO_BLOCK if method is Method.SEND else Block.read(codec)
                answer = Answer(codec.read_int32(), block)
                codec.end()
            except (CodecError, ValueError) as error:
                raise self._link.failure(LinkError, f"malformed answer: {error}") from error
            return answer
