"""A client on eRPC's own runtime, as erpcgen makes them: it knows nothing of sessions."""

from __future__ import annotations

from typing import Any

from erpc.basic_codec import BasicCodec
from erpc.client import ClientManager
from erpc.codec import MessageInfo, MessageType
from erpc.transport import TCPTransport

from pytest_autodeploy.rpc import calls
from pytest_autodeploy.rpc.calls import Call
from pytest_autodeploy.rpc.messages import PROTOCOL_VERSION, SERVICE_ID, Status


class PlainRefused(Exception):
    """The board said no."""


class PlainClient:
    """Calls a board at an address, with requests numbered from ``start`` + 1 on."""

    def __init__(self, address: str, start: int = 0) -> None:
        host, port = address.split(":")
        self._transport = TCPTransport(host, int(port), False)
        self._manager = ClientManager(self._transport, BasicCodec)
        self._manager._sequence = start

    def identify(self) -> None:
        """Opens a session, of which this client does not know."""
        self.call(calls.IDENTIFY, PROTOCOL_VERSION)

    def call(self, call: Call, *arguments: Any) -> list[Any]:
        """Makes a call as erpcgen's Python does, and returns what it gives."""
        request = self._manager.create_request()
        codec = request.codec
        codec.start_write_message(
            MessageInfo(MessageType.kInvocationMessage, SERVICE_ID, call.id, request.sequence)
        )
        for wire, value in zip(call.takes.values(), arguments, strict=True):
            wire.write(codec, value)
        self._manager.perform_request(request)
        results = [wire.read(codec) for wire in call.gives.values()]
        status = codec.read_int32()
        if status != Status.OK:
            raise PlainRefused(Status(status).text)
        return results

    def close(self) -> None:
        """Leaves the board to the next client."""
        self._transport.close()
