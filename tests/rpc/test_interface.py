"""The tables of the code say what ``firmware/autodeploy.erpc`` says."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from enum import IntEnum

import pytest

from pytest_autodeploy.base.resources import resource
from pytest_autodeploy.rpc import messages
from pytest_autodeploy.rpc.calls import CALLS, IDENTIFY, READ_LOG, Call
from pytest_autodeploy.rpc.client import ValidatorClient
from pytest_autodeploy.rpc.messages import Capability
from pytest_autodeploy.rpc.validator import Validator
from pytest_autodeploy.rpc.wire import Struct, wires_of

COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
IDL = COMMENT.sub("", resource("firmware", "autodeploy.erpc").read_text(encoding="utf-8"))

ENUMS = {
    "Status": ("status", messages.Status),
    "BoardKind": ("board", messages.BoardKind),
    "ClockMode": ("clock", messages.ClockMode),
    "TensorType": ("tensor", messages.TensorType),
    "PowerOutcome": ("power", messages.PowerOutcome),
    "ResetCause": ("reset", messages.ResetCause),
}
STRUCTS = [
    messages.Identity,
    messages.ModelState,
    messages.TensorInfo,
    messages.InvokeTiming,
    messages.Inference,
    messages.ProfileTiming,
    messages.LayerRecord,
    messages.PowerRun,
    messages.Placement,
    messages.BoardReport,
]


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def blocks(keyword: str) -> dict[str, str]:
    return dict(re.findall(rf"^{keyword} (\w+) \{{(.*?)^\}}", IDL, re.DOTALL | re.MULTILINE))


def fields(block: str) -> list[tuple[str, str]]:
    """Name and type of each field or parameter."""
    lines = (line.split() for line in block.splitlines() if line.strip())
    return [(snake(name), kind) for kind, name in lines]


def declared_calls() -> Iterator[tuple[int, str, list[tuple[str, str]], list[tuple[str, str]]]]:
    pattern = re.compile(r"@id\((\d+)\) (\w+)\((.*?)\) -> Status")
    for number, name, parameters in pattern.findall(blocks("interface")["Validator"]):
        split = [part.split() for part in parameters.split(", ") if part]
        takes = [(snake(words[1]), words[0]) for words in split if words[0] != "out"]
        gives = [(snake(words[2]), words[1]) for words in split if words[0] == "out"]
        yield int(number), snake(name), takes, gives


def test_every_enum_is_compared() -> None:
    assert set(blocks("enum")) == set(ENUMS)


@pytest.mark.parametrize("name", ENUMS)
def test_enums_have_the_same_names_and_values(name: str) -> None:
    prefix, enum = ENUMS[name]
    declared = re.findall(rf"{prefix}(\w+) = (\d+)", blocks("enum")[name])
    assert {snake(key).upper(): int(value) for key, value in declared} == _values(enum)


def _values(enum: type[IntEnum]) -> dict[str, int]:
    return {member.name: member.value for member in enum}


def test_every_struct_is_compared() -> None:
    assert set(blocks("struct")) == {struct.__name__ for struct in STRUCTS}


@pytest.mark.parametrize("struct", STRUCTS)
def test_structs_have_the_same_fields_in_the_same_order(struct: type[Struct]) -> None:
    ours = [(name, wire.name) for name, wire in wires_of(struct).items()]
    assert fields(blocks("struct")[struct.__name__]) == ours


def test_calls_have_the_same_ids_names_and_parameters() -> None:
    ours = [
        (
            call.id,
            call.name,
            [(name, wire.name) for name, wire in call.takes.items()],
            [(name, wire.name) for name, wire in call.gives.items()],
        )
        for call in CALLS.values()
    ]
    assert list(declared_calls()) == ours


def test_constants_are_the_same() -> None:
    constants = {name: int(value) for name, value in re.findall(r"const \w+ k(\w+) = (\d+)", IDL)}
    assert constants.pop("ProtocolVersion") == messages.PROTOCOL_VERSION
    flags = {f"Capability{_camel(flag.name or '')}": flag.value for flag in Capability}
    assert constants == flags


def _camel(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))


def test_the_service_has_the_same_id() -> None:
    assert re.search(r"@id\((\d+)\)\s+interface Validator", IDL)[1] == str(  # type: ignore[index]
        messages.SERVICE_ID
    )


@pytest.mark.parametrize("call", CALLS.values(), ids=lambda call: call.name)
def test_client_and_validator_have_a_method_per_call(call: Call) -> None:
    assert callable(getattr(ValidatorClient, call.name))
    if call not in (IDENTIFY, READ_LOG):
        parameters = inspect.signature(getattr(Validator, call.name)).parameters
        assert list(parameters) == ["self", *call.takes]


def test_calls_that_change_what_a_repetition_finds_are_not_repeatable() -> None:
    once = {call.name for call in CALLS.values() if not call.repeatable}
    assert once == {"reboot", "arm_power"}


def test_the_calls_that_change_something_are_declared_ordered() -> None:
    text = resource("firmware", "autodeploy.erpc").read_text(encoding="utf-8")
    declared = re.findall(r"/\*((?:(?!\*/).)*)\*/\s*@id\(\d+\) (\w+)\(", text, re.DOTALL)
    ordered = {snake(name) for words, name in declared if re.search(r"\bOrdered\b", words)}
    assert ordered == {call.name for call in CALLS.values() if call.ordered}
