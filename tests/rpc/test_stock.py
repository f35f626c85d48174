"""The stock dialect: what neuralSPOT's AutoDeploy has flashed, frames, statistics and calls."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from pytest_autodeploy.base.errors import (
    BoardError,
    BoardRefused,
    BoardTimeout,
    LinkError,
    Unsupported,
    WrongFirmware,
)
from pytest_autodeploy.board.dialect import expect
from pytest_autodeploy.model.load import load_model
from pytest_autodeploy.rpc.messages import ClockMode
from pytest_autodeploy.rpc.stock_blocks import Block, Blocks, Command
from pytest_autodeploy.rpc.stock_calls import Expected, StockCalls
from pytest_autodeploy.rpc.stock_client import StockClient
from pytest_autodeploy.rpc.stock_link import StockLink
from pytest_autodeploy.rpc.stock_stats import NoStatistics, parse
from tests.helpers.stock_board import StockBoard, crc16, stock_pty, stock_tcp
from tests.helpers.stock_firmware import PMU, StockFirmware, Version
from tests.helpers.support import DIGITS, KWS
from tests.helpers.tflite_builder import relu_chain

Transport = Callable[[StockFirmware], AbstractContextManager[StockBoard]]
VERSIONS = cast("list[Version]", [2023, 2024, 2026])
COUNTERS = (
    *("cycles", "cpi mod 256", "exc mod 256", "sleep mod 256", "lsu mod 256", "fold mod 256"),
    *("daccess", "dtaglookup", "dhitslookup", "dhitsline"),
    *("iaccess", "itaglookup", "ihitslookup", "ihitsline"),
)
KWS_EXPECTED = expect(load_model(KWS))


@pytest.fixture(scope="module")
def outputs() -> list[bytes]:
    """TFLM's own, of the first of `inputs`."""
    firmware = StockFirmware(KWS)
    firmware.send(0, struct.pack("<9I", 1, 490, 12, 0, 1, 1, 0, 490, 12))
    return [firmware.compute(0, data).data for data in _inputs()]


def _inputs() -> list[bytes]:
    values = np.random.default_rng(7).integers(-128, 128, (2, 490), dtype=np.int8)
    return [sample.tobytes() for sample in values]


@contextmanager
def connected(
    firmware: StockFirmware, transport: Transport = stock_tcp, timeout_s: float = 10.0
) -> Iterator[tuple[StockClient, StockBoard]]:
    with ExitStack() as stack:
        board = stack.enter_context(transport(firmware))
        link = StockLink(board.url, board="evb")
        stack.callback(link.close)
        client = StockClient(link, board="apollo4p_evb", core="cortex-m4f", timeout_s=timeout_s)
        yield client, board


@pytest.mark.parametrize("transport", [stock_tcp, stock_pty])
@pytest.mark.parametrize("version", VERSIONS)
def test_each_version_gives_the_outputs_of_tflm(
    version: Version, transport: Transport, outputs: list[bytes]
) -> None:
    with connected(StockFirmware(KWS, version), transport) as (client, board):
        client.prove(KWS_EXPECTED)
        samples = [[sample] for sample in _inputs()]
        found = [inferred.outputs[0] for inferred in client.infer_each(samples, [12])]
    assert found == outputs
    assert board.refused == 0


@pytest.mark.parametrize("version", VERSIONS)
def test_each_version_gives_its_first_profile_by_whole_names(version: Version) -> None:
    with connected(StockFirmware(KWS, version)) as (client, board):
        identity = client.prove(KWS_EXPECTED)
        layers = client.read_layers()
        state = client.configure()
    assert tuple(layer.tag for layer in layers) == KWS_EXPECTED.operators
    assert layers[0].ticks == 9_176_292 // 192
    assert identity.counters == COUNTERS
    assert layers[1].counters == (4_479_588, *range(1, 6), *range(1000, 1008))
    assert (state.arena_used_bytes, state.arena_bytes, state.layers) == (23_456, 0, 13)
    assert identity.model_sha256 == b""
    assert [call for call in board.firmware.calls if call.startswith("send")] == [
        f"send 0 {4 * (9 if version == 2026 else 8)}"
    ]


def test_the_columns_of_a_cortex_m55_are_those_of_its_own_header() -> None:
    with connected(StockFirmware(KWS, platform=5)) as (client, _):
        identity = client.prove(KWS_EXPECTED)
        assert identity.counters == PMU
        assert client.read_layers()[2].counters == (2000, 2001, 2002, 2003)


def test_a_frame_is_that_of_erpc_1_9_1() -> None:
    """Recorded from neuralSPOT's own library."""
    block = Block.of("Model Config", Command.GENERIC, bytes(range(8)))
    with stock_tcp(StockFirmware(KWS)) as board:
        link = _Recorded(board.url, board="evb")
        blocks = Blocks(link)
        blocks._sequence = 0
        blocks.send(block, 5)
        blocks.fetch(5)
        link.close()
    assert link.sent[0] == bytes.fromhex(
        "300023a5 0001020101000000 08000000 00000000 0c000000 4d6f64656c20436f6e666967 00000000"
        "08000000 0001020304050607"
    )
    assert link.sent[1] == bytes.fromhex("0800c32b 0002020102000000")


class _Recorded(StockLink):
    """Keeps what it sends."""

    sent: list[bytes]

    def _base_send(self, data: bytes | bytearray) -> None:
        self.sent = [*getattr(self, "sent", []), bytes(data)]
        super()._base_send(data)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_board_that_is_set_up_already_is_not_set_up_again(
    version: Version, outputs: list[bytes]
) -> None:
    """TFLM would take memory of its arena twice; what others began to write is not ours."""
    firmware = StockFirmware(KWS, version)
    words = [1, 490, 12, 0, 1, 1, 0][: 7 if version == 2026 else 6]
    assert firmware.send(0, struct.pack(f"<{len(words) + 2}I", *words, 490, 12)).status == 0
    if version == 2026:
        firmware.send(4, bytes(200))
    with connected(firmware) as (client, _):
        client.prove(KWS_EXPECTED)
        assert client.infer([_inputs()[0]], [12]).outputs[0] == outputs[0]
        client.prove(KWS_EXPECTED)
    assert sum(call.startswith("send 0") for call in firmware.calls) == 1


def test_statistics_that_somebody_began_to_fetch_are_read_from_their_start(big: Path) -> None:
    firmware = StockFirmware(big)
    assert firmware.fetch().description == "PartStats"
    with connected(firmware) as (client, _):
        client.prove(expect(load_model(big)))
        assert len(client.read_layers()) == len(firmware.model.operators)


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """40 layers, an input of 8,000 bytes and as many of outputs: each in pieces."""
    path = tmp_path_factory.mktemp("models") / "chain.tflite"
    path.write_bytes(relu_chain(layers=40, size=2000))
    return path


@pytest.mark.parametrize("version", VERSIONS[1:])
def test_inputs_and_outputs_that_fit_no_block_come_in_pieces(version: Version, big: Path) -> None:
    values = np.random.default_rng(3).normal(size=2000).astype(np.float32)
    with connected(StockFirmware(big, version)) as (client, _):
        client.prove(expect(load_model(big)))
        for factor in (1, 2):
            data = (factor * values).tobytes()
            assert client.infer([data], [8000]).outputs == (_relu(factor * values),)


def _relu(values: np.ndarray) -> bytes:
    return bytes(np.maximum(values, 0).astype(np.float32).tobytes())


def test_another_model_is_refused_by_its_layers() -> None:
    with connected(StockFirmware(DIGITS)) as (client, _):
        digits = expect(load_model(DIGITS))
        other = Expected("other", digits.inputs, digits.outputs, KWS_EXPECTED.operators, False)
        with pytest.raises(WrongFirmware, match=r"was built for \d+ layers; other has 13"):
            client.prove(other)
        names = ("ADD", *digits.operators[1:])
        other = Expected("other", digits.inputs, digits.outputs, names, False)
        with pytest.raises(WrongFirmware, match="than other: layer 0 is CONV_2D, not ADD"):
            client.prove(other)


def test_an_arena_that_is_too_small_is_told() -> None:
    with connected(StockFirmware(KWS, room=0)) as (client, _):
        with pytest.raises(BoardRefused, match="could not prepare its model") as refused:
            client.prove(KWS_EXPECTED)
        assert "--arena-size-scratch-buffer-padding" in str(refused.value)
        with pytest.raises(WrongFirmware, match="could not prepare its model in its arena"):
            client.prove(KWS_EXPECTED)


CANNOT: list[tuple[str, Callable[[StockClient], object], str]] = [
    ("invoke", lambda client: client.invoke(10), "only times the layers of the first"),
    ("set_clock", lambda client: client.set_clock(ClockMode.LOW_POWER), "no clock modes"),
    ("configure", lambda client: client.configure(1 << 20), "its arena is built in"),
    ("write_input", lambda client: client.write_input(1, b"1"), "takes input 0 only"),
    ("infer", lambda client: client.infer([b"", b""], [12]), "takes input 0 only"),
    ("select_counters", lambda client: client.select_counters([1]), "counters are built in"),
    ("reboot", lambda client: client.reboot(), "does not restart"),
    ("arm_power", lambda client: client.arm_power(1, 1), "no power window"),
    ("keep_tensors", lambda client: client.keep_tensors(True), "no such call"),
    ("read_output", lambda client: client.read_output(0, 12), "no such call"),
]


@pytest.mark.parametrize(("call", "act", "why"), CANNOT, ids=[name for name, _, _ in CANNOT])
def test_what_it_cannot_do_is_refused_with_the_reason_and_sends_nothing(
    call: str, act: Callable[[StockClient], object], why: str
) -> None:
    with connected(StockFirmware(KWS)) as (client, board):
        client.prove(KWS_EXPECTED)
        before = len(board.firmware.calls)
        with pytest.raises(Unsupported, match=f"{call}: stock firmware cannot do this.*{why}"):
            act(client)
        client.prove(KWS_EXPECTED)
        assert board.firmware.calls[before:] == ["fetch"]
        assert board.refused == 0


def test_a_board_without_a_profile_says_so() -> None:
    firmware = StockFirmware(KWS)
    firmware.send(0, struct.pack("<9I", 0, 490, 12, 0, 1, 1, 0, 490, 12))
    with connected(firmware) as (client, _):
        assert not client.prove(KWS_EXPECTED).capabilities
        with pytest.raises(Unsupported, match=r"run without its profiler.*reset button"):
            client.read_layers()


def test_a_board_that_waits_for_the_end_of_a_frame_is_given_up_at_the_deadline() -> None:
    with connected(StockFirmware(KWS), stock_pty, timeout_s=0.3) as (client, _):
        client.link.allow(1)
        client.link._base_send(struct.pack("<HH", 4000, 0))
        with pytest.raises(BoardTimeout, match="stock fetch: no answer"):
            client.prove(KWS_EXPECTED)


GARBAGE: list[tuple[str, Callable[[bytes], bytes], str]] = [
    ("length", lambda frame: b"\xff\xff" + frame[2:], "announces 65535 bytes"),
    ("no length", lambda frame: bytes(4) + frame[4:], "announces 0 bytes"),
    ("crc", lambda frame: frame[:-1] + b"\x7f", "invalid message CRC"),
    ("cut", lambda frame: frame[:-9], "no whole answer"),
    ("text", lambda _: b"Hello from the boot loader\n" * 9, "announces"),
    ("string", lambda frame: _sealed(frame, 20, 0xFFFFFFF0), "malformed answer"),
    ("data", lambda frame: _sealed(frame, 37, 0xFFFFFFFF), "malformed answer"),
    ("size", lambda frame: _sealed(frame, 45, 1 << 31), "not those of a known version"),
    ("event", lambda frame: _sealed(frame, 49, 77), "not those of a known version"),
    ("silence", lambda _: b"", "no answer"),
]


def _sealed(frame: bytes, at: int, word: int) -> bytes:
    """A good frame with another word in its body."""
    body = bytearray(frame[4:])
    struct.pack_into("<I", body, at - 4, word)
    return struct.pack("<HH", len(body), crc16(bytes(body))) + bytes(body)


@pytest.mark.parametrize(("tamper", "says"), [g[1:] for g in GARBAGE], ids=[g[0] for g in GARBAGE])
def test_a_garbage_answer_is_a_clear_error(tamper: Callable[[bytes], bytes], says: str) -> None:
    with connected(StockFirmware(KWS), timeout_s=0.5) as (client, board):
        board.tampers.append(tamper)
        with pytest.raises((LinkError, BoardTimeout, WrongFirmware), match=says):
            client.prove(KWS_EXPECTED)


class _Canned:
    """A link that has one answer for each call, whatever was asked."""

    board = "evb"

    def __init__(self, body: bytes) -> None:
        self._body = body
        self._sequence = b""

    def begin(self, call: str, patience_s: float) -> None:
        pass

    def send(self, message: bytes) -> None:
        self._sequence = message[4:8]

    def receive(self) -> bytes:
        return self._body[:4] + self._sequence + self._body[8:]

    def failure(self, kind: type[LinkError], what: str) -> LinkError:
        return kind(what, board=self.board)


def test_mutated_answers_are_clear_errors_and_never_endless() -> None:
    """Bytes changed, cut, doubled: of 500 answers each ends, with a value or an error of ours."""
    firmware = StockFirmware(KWS)
    good = StockBoard(firmware).answer(struct.pack("<II", 1 << 24 | 2 << 16 | 2 << 8, 0))
    assert good is not None
    random = np.random.default_rng(11)
    taken = 0
    for _ in range(500):
        body = bytearray(good)
        for at in random.integers(8, 90, random.integers(0, 4)):
            body[at] = int(random.integers(256))
        del body[len(good) - int(random.integers(0, 3)) * int(random.integers(200)) :]
        calls = StockCalls(cast("StockLink", _Canned(bytes(body))), 1.0)
        try:
            taken += calls.statistics().capacity == 13
        except BoardError:
            continue
    assert 100 < taken < 400


def test_pieces_that_never_end_are_given_up() -> None:
    class Endless(StockFirmware):
        def fetch(self):  # type: ignore[no-untyped-def]
            return super().fetch()._replace(description="PartStats")

    with (
        connected(Endless(KWS)) as (client, _),
        pytest.raises(LinkError, match="pieces that do not end within 344604 bytes"),
    ):
        client.prove(KWS_EXPECTED)


@pytest.mark.parametrize("size", [0, 3, 15, 16, 17, 540, 624, 700])
def test_bytes_that_are_no_statistics_are_refused(size: int) -> None:
    for event in (0, 4, 76, 84, 1 << 31):
        with pytest.raises(NoStatistics):
            parse(struct.pack("<4I", 1, size + 1, event, 1 << 31)[:size].ljust(size, b"\xff"))


def test_a_count_of_events_beyond_the_struct_is_cut() -> None:
    data = struct.pack("<4I", 1, 16 + 76, 76, 1 << 31) + bytes(64) + b"CONV_2D".ljust(12, b"\0")
    assert [layer.tag for layer in parse(data).layers] == ["CONV_2D"]
