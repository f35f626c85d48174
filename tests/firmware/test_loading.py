"""A model that the host loads, by the firmware's own code on this PC and by the simulated one."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_autodeploy.base.errors import BoardDied, BoardRefused
from pytest_autodeploy.rpc import calls
from pytest_autodeploy.rpc.client import ValidatorClient
from pytest_autodeploy.rpc.messages import Capability
from pytest_autodeploy.rpc.service import Refused
from pytest_autodeploy.sim.loading import ModelStore
from tests.helpers.firmware_support import (
    LOADED,
    REPLY_TIMEOUT_S,
    host_build,
    host_client,
    needs_host_build,
)

pytestmark = [needs_host_build, pytest.mark.slow]  # a build of its own: 8 s
ROOM_BYTES = 5000
MODEL = random.Random(1).randbytes(ROOM_BYTES)
SHA256 = hashlib.sha256(MODEL).digest()


@pytest.fixture(scope="module")
def program(pytestconfig: pytest.Config) -> Path:
    return host_build(pytestconfig, "firmware", folder=LOADED) / "autodeploy"


@pytest.fixture
def board(program: Path) -> Iterator[ValidatorClient]:
    with host_client(program) as client:
        yield client


def write(board: ValidatorClient, offset: int, data: bytes) -> None:
    board._call(calls.WRITE_MODEL, offset, data)


def load(board: ValidatorClient, model: bytes = MODEL) -> None:
    board.begin_model(len(model), hashlib.sha256(model).digest())
    board.write_model(model)
    assert board.prove_model(len(model)) == hashlib.sha256(model).digest()


def refused(status: str, text: str) -> pytest.RaisesExc[BoardRefused]:
    return pytest.RaisesExc(
        BoardRefused, match=text, check=lambda error: bool(error.status == status)
    )


def test_a_board_without_its_model_says_so_and_configures_nothing(board: ValidatorClient) -> None:
    identity = board.identify()
    assert identity.model_sha256 == b""
    assert Capability.MODEL_UPLOAD in identity.capabilities
    with refused("NO_MODEL", "no model has been loaded and proven since the start"):
        board.configure()


def test_it_runs_the_model_that_it_has_proven(board: ValidatorClient) -> None:
    load(board)
    assert board.identify().model_sha256 == SHA256
    assert board.configure().inputs == 3


@pytest.mark.parametrize("size", [1, 55, 56, 63, 64, 65, 119, 120, 128, 4999])
def test_the_hash_is_right_at_every_length_of_the_last_block(
    board: ValidatorClient, size: int
) -> None:
    load(board, MODEL[:size])


def test_a_model_of_less_than_the_room_is_taken_and_one_of_more_is_not(
    board: ValidatorClient,
) -> None:
    load(board, MODEL[:10])
    with refused("NO_MEMORY", "a model of 5001 bytes does not fit; the most is 5000"):
        board.begin_model(ROOM_BYTES + 1, SHA256)
    assert board.identify().model_sha256 == b""


@pytest.mark.parametrize(("size", "sha256"), [(0, SHA256), (ROOM_BYTES, SHA256[:31])])
def test_what_no_model_can_be_is_refused(board: ValidatorClient, size: int, sha256: bytes) -> None:
    with refused("BAD_ARGUMENT", f"a model of {size} bytes with a SHA-256 of {len(sha256)}"):
        board.begin_model(size, sha256)


def test_nothing_is_written_or_proven_before_a_model_has_been_begun(board: ValidatorClient) -> None:
    with refused("BAD_ARGUMENT", "no model has been begun"):
        write(board, 0, b"x")
    with refused("BAD_ARGUMENT", "0 of the 0 bytes"):
        board.prove_model(0)


def test_a_piece_behind_a_gap_is_refused_and_one_that_comes_again_is_not(
    board: ValidatorClient,
) -> None:
    board.begin_model(len(MODEL), SHA256)
    write(board, 0, MODEL[:100])
    with refused("BAD_ARGUMENT", "a piece at byte 101; those from byte 100 on are missing"):
        write(board, 101, MODEL[101:200])
    write(board, 0, MODEL[:100])
    write(board, 50, MODEL[50:200])
    for start in range(200, ROOM_BYTES, 400):
        write(board, start, MODEL[start : start + 400])
    assert board.prove_model(len(MODEL)) == SHA256


def test_a_piece_beyond_the_end_is_refused(board: ValidatorClient) -> None:
    board.begin_model(100, SHA256)
    write(board, 0, MODEL[:90])
    with refused("BAD_ARGUMENT", "11 bytes at byte 90 of a model of 100"):
        write(board, 90, MODEL[90:101])


def test_a_model_that_is_not_complete_is_not_proven_and_may_go_on(board: ValidatorClient) -> None:
    board.begin_model(200, hashlib.sha256(MODEL[:200]).digest())
    write(board, 0, MODEL[:150])
    with refused("BAD_ARGUMENT", "150 of the 200 bytes of the model have arrived"):
        board.prove_model(200)
    with refused("NO_MODEL", "no model"):
        board.configure()
    write(board, 150, MODEL[150:200])
    board.prove_model(200)


def test_a_damaged_model_is_never_run(board: ValidatorClient) -> None:
    load(board)
    board.configure()
    board.begin_model(len(MODEL), SHA256)
    with refused("NOT_CONFIGURED", "configure has not succeeded"):
        board.invoke()
    board.write_model(MODEL[:-1] + b"\0")
    with refused("BAD_MODEL", f"damaged: its SHA-256 begins with .* not with {SHA256[:4].hex()}"):
        board.prove_model(len(MODEL))
    assert board.identify().model_sha256 == b""
    with refused("NO_MODEL", "no model"):
        board.configure()
    with refused("BAD_ARGUMENT", "no model has been begun"):
        write(board, 0, b"x")


def test_a_proven_model_cannot_be_changed_and_can_be_proven_again(board: ValidatorClient) -> None:
    load(board)
    board.configure()
    with refused("BAD_ARGUMENT", "the model is complete and proven"):
        write(board, 0, b"x")
    assert board.prove_model(len(MODEL)) == SHA256
    board.invoke()


def test_a_restart_forgets_the_model_and_ends_what_was_being_loaded(board: ValidatorClient) -> None:
    load(board)
    board.begin_model(len(MODEL), SHA256)
    write(board, 0, MODEL[:100])
    kept = board._exchange._sequence, board._exchange._end
    board.reboot()
    board._exchange._sequence, board._exchange._end = kept
    with pytest.raises(BoardDied, match="write_model: the session with the board has ended"):
        write(board, 100, MODEL[100:200])
    assert board.identify().model_sha256 == b""
    with refused("BAD_ARGUMENT", "no model has been begun"):
        write(board, 100, MODEL[100:200])
    load(board)


def test_another_host_begins_anew_after_one_that_has_gone(board: ValidatorClient) -> None:
    board.begin_model(len(MODEL), SHA256)
    write(board, 0, MODEL[:100])
    other = ValidatorClient(board.link, timeout_s=REPLY_TIMEOUT_S)
    assert other.identify().model_sha256 == b""
    load(other, MODEL[:300])
    with pytest.raises(BoardDied, match="the session with the board has ended"):
        write(board, 100, MODEL[100:200])


def test_an_image_with_its_model_takes_no_other(pytestconfig: pytest.Config) -> None:
    with host_client(host_build(pytestconfig, "firmware") / "autodeploy") as client:
        client.configure()
        assert Capability.MODEL_UPLOAD not in client.identify().capabilities
        for call in (
            lambda: client.begin_model(len(MODEL), SHA256),
            lambda: client.write_model(MODEL[:16]),
            lambda: client.prove_model(16),
        ):
            with refused("UNSUPPORTED", "the image has its model; it takes no other"):
                call()
        client.invoke()


Step = tuple[str, tuple[object, ...]]


def steps(seed: int) -> Iterator[Step]:
    """Random calls, most of them right."""
    chance = random.Random(seed)
    content = MODEL[: chance.choice((1, 64, 300))]
    arrived = 0
    for _ in range(40):
        match chance.randrange(8):
            case 0:
                sha256 = hashlib.sha256(content).digest()
                size = chance.choice((len(content), len(content), 0, ROOM_BYTES + 1))
                yield "begin", (size, chance.choice((sha256, sha256, SHA256, b"short")))
                arrived = 0
            case 1 | 2:
                yield "prove", ()
            case _:
                offset = max(0, arrived + chance.choice((0, 0, 0, -5, 7)))
                data = content[offset : offset + chance.choice((0, 40, 200, 320))]
                yield "write", (offset, data)
                arrived = max(arrived, offset + len(data))


def test_firmware_and_simulation_answer_alike(board: ValidatorClient) -> None:
    outcomes = set()
    for seed in range(12):
        store = ModelStore(ROOM_BYTES)
        board.begin_model(1, SHA256)
        store.begin(1, SHA256)
        for name, arguments in steps(seed):
            theirs, ours = _of_firmware(board, name, *arguments), _of_store(store, name, *arguments)
            assert theirs == ours, (seed, name, arguments)
            outcomes.add((name, ours.partition(" ")[0]))
    assert len(outcomes) == 8  # each call refused in each way, and not


def _of_firmware(board: ValidatorClient, name: str, *arguments: object) -> str:
    call = {"begin": calls.BEGIN_MODEL, "write": calls.WRITE_MODEL, "prove": calls.PROVE_MODEL}
    try:
        answer = board._call(call[name], *arguments)
    except BoardRefused as error:
        return f"{error.status} {error.text.rpartition('_model: ')[2]}"
    return f"OK {answer[0].hex() if answer else ''}"


def _of_store(store: ModelStore, name: str, *arguments: object) -> str:
    try:
        answer = getattr(store, name)(*arguments)
    except Refused as error:
        return f"{error.status.name} {error.text}"
    return f"OK {hashlib.sha256(answer).hexdigest() if answer else ''}"
