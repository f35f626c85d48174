"""What clients do to a board on whose link requests come again: outputs have to be the inputs."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_autodeploy.rpc import calls
from pytest_autodeploy.rpc.client import ValidatorClient
from tests.helpers.plain_client import PlainClient


@dataclass(frozen=True)
class Echo:
    """A model whose outputs are its inputs, of ``sizes`` bytes, on a board.

    ``counts_events``: the board's counters can be chosen.
    """

    sizes: tuple[int, ...]
    layers: int
    counts_events: bool = False


def old_way(client: ValidatorClient, sent: Sequence[bytes], _echo: Echo) -> list[bytes]:
    for index, data in enumerate(sent):
        client.write_input(index, data)
    client.invoke()
    return [client.read_output(index, len(data)) for index, data in enumerate(sent)]


def one_call(client: ValidatorClient, sent: Sequence[bytes], echo: Echo) -> list[bytes]:
    return list(client.infer(sent, echo.sizes).outputs)


def several_ahead(client: ValidatorClient, sent: Sequence[bytes], echo: Echo) -> list[bytes]:
    others = [b"\x5a" * size for size in echo.sizes]
    each = list(client.infer_each([others, sent], echo.sizes, overlap=True))
    return list(each[-1].outputs)


def run_case(client: ValidatorClient, case: int, echo: Echo) -> None:
    """A client that does this and that; what it is given has to be what it sent."""
    chance = random.Random(case)
    client.configure()
    first = True
    for _ in range(chance.randint(1, 4)):
        sent = [chance.randbytes(size) for size in echo.sizes]
        if chance.random() < 0.3:
            assert client.invoke(2).includes_first == first, f"case {case}"
            first = False
        way = chance.choice((old_way, one_call, several_ahead))
        assert way(client, sent, echo) == sent, f"case {case}"
        if chance.random() < 0.3:
            assert not client.profile().is_first, f"case {case}"
            assert len(client.read_layers()) == echo.layers
        if chance.random() < 0.2:
            client.identify()
        if chance.random() < 0.2:
            client.reset_state()
        first = False


def plain_case(client: PlainClient, case: int, echo: Echo) -> None:
    """The same by a client that knows nothing of sessions. Raises PlainRefused."""
    chance = random.Random(case)
    client.call(calls.CONFIGURE, 0)
    for _ in range(3):
        sent = [chance.randbytes(size) for size in echo.sizes]
        for index, data in enumerate(sent):
            client.call(calls.WRITE_INPUT, index, 0, data)
        client.call(calls.INVOKE, 1)
        got = [client.call(calls.READ_OUTPUT, n, 0, len(data))[0] for n, data in enumerate(sent)]
        assert got == sent, f"case {case}"
