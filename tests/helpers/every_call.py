"""Every call of the interface, by the project's client, on a board whose model echoes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from pytest_autodeploy.base.errors import BoardRefused
from pytest_autodeploy.rpc import calls
from pytest_autodeploy.rpc.client import ValidatorClient
from pytest_autodeploy.rpc.messages import Capability, ClockMode, PowerOutcome, ResetCause
from tests.helpers.late_cases import Echo


@contextmanager
def counted(client: ValidatorClient) -> Iterator[set[str]]:
    """The names of the calls that were made within it."""
    made: set[str] = set()
    perform = client._exchange.perform

    def performed(call: calls.Call, pieces: Sequence[Any], **options: Any) -> Iterator[list[Any]]:
        made.add(call.name)
        return perform(call, pieces, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(client._exchange, "perform", performed)
        yield made


def make_every_call(client: ValidatorClient, echo: Echo) -> None:
    """What the board cannot do has to be refused in words; all else has to be right."""
    identity = client.identify()
    with counted(client) as made:
        client.identify()
        _describe(client, echo)
        _infer(client, echo)
        _choose(client, echo, identity.capabilities)
        _arm(client, identity.capabilities)
        _load(client, identity.capabilities)
        client.reboot()
        assert client.identify() == identity
        assert client.describe_board().reset_cause is ResetCause.REQUESTED
        client.read_log()
    assert made == {call.name for call in calls.CALLS.values()}


def _describe(client: ValidatorClient, echo: Echo) -> None:
    state = client.configure()
    assert (state.inputs, state.outputs) == (len(echo.sizes), len(echo.sizes))
    for index, size in enumerate(echo.sizes):
        assert client.describe_input(index).size_bytes == size
        assert client.describe_output(index).size_bytes == size
    assert "arena" in {place.part for place in client.describe_board().placements}


def _infer(client: ValidatorClient, echo: Echo) -> None:
    first, second = ([bytes([17 * n + 5]) * s for s in echo.sizes] for n in (1, 2))
    for index, data in enumerate(first):
        client.write_input(index, data)
    assert client.invoke(2).includes_first
    assert [client.read_output(n, size) for n, size in enumerate(echo.sizes)] == first
    assert client.infer(second, echo.sizes).outputs == tuple(second)
    client.reset_state()
    assert not client.profile().is_first
    assert len(client.read_layers()) == echo.layers


def _choose(client: ValidatorClient, echo: Echo, capabilities: Capability) -> None:
    client.set_clock(ClockMode.HIGH_PERFORMANCE)
    with _perhaps(able=Capability.ANY_TENSOR in capabilities):
        client.keep_tensors(True)
        client.configure()
        sent = [b"\x21" * size for size in echo.sizes]
        client.infer(sent, echo.sizes)
        assert client.read_tensor(0, client.describe_tensor(0).size_bytes) == sent[0]
    client.keep_tensors(False)
    with _perhaps(able=echo.counts_events):
        assert client.select_counters() > 0


def _arm(client: ValidatorClient, capabilities: Capability) -> None:
    able = Capability.POWER_WINDOW in capabilities
    with _perhaps(able=able):
        client.arm_power(0, 1)
    expected = PowerOutcome.NO_TRIGGER if able else PowerOutcome.NONE
    assert client.power_result().outcome is expected


def _load(client: ValidatorClient, capabilities: Capability) -> None:
    able = Capability.MODEL_UPLOAD in capabilities
    model = b"a model"
    sha256 = hashlib.sha256(model).digest()
    with _perhaps(able=able):
        client.begin_model(len(model), sha256)
    with _perhaps(able=able):
        client.write_model(model)
    with _perhaps(able=able):
        assert client.prove_model(len(model)) == sha256


@contextmanager
def _perhaps(*, able: bool) -> Iterator[None]:
    if able:
        yield
        return
    with pytest.raises(BoardRefused) as refused:
        yield
    assert refused.value.status == "UNSUPPORTED"
    assert refused.value.text
