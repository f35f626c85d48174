"""A bad link between host and board: each call is right, or one of our errors, within its time."""

from __future__ import annotations

import random
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pytest_autodeploy.base.errors import BoardError
from pytest_autodeploy.base.kernel_paths import TFLM_PATH
from pytest_autodeploy.model.load import load_model
from pytest_autodeploy.reference.inputs import random_inputs
from pytest_autodeploy.reference.runner import Reference
from pytest_autodeploy.rpc.client import ValidatorClient
from pytest_autodeploy.rpc.link import Link
from tests.helpers.simulated_board import SimulatedBoard, simulated_board
from tests.helpers.support import DIGITS
from tests.storm.tally import Tally

TIMEOUT_S = 1.0
GRACE_S = 1.0
"""A call may be over its deadline by so much, on a PC that is busy."""

PATIENCE_S = 30.0
"""For the board when its link is good."""

SAMPLES = 16

Fault = Callable[[bytes, random.Random], list[bytes]]
"""What becomes of a piece of the stream: the pieces that are passed on."""


def _flip(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def _without(data: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(data))
    return data[:at] + data[at + chance.randint(1, 8) :]


def _with_noise(data: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(data))
    return data[:at] + chance.randbytes(chance.randint(1, 40)) + data[at:]


FAULTS: dict[str, Fault] = {
    "a bit flipped": lambda data, chance: [_flip(data, chance)],
    "bits flipped": lambda data, chance: [_flip(_flip(_flip(data, chance), chance), chance)],
    "lost": lambda _data, _chance: [],
    "bytes lost": lambda data, chance: [_without(data, chance)],
    "the end lost": lambda data, chance: [data[: chance.randrange(len(data))]],
    "noise within": lambda data, chance: [_with_noise(data, chance)],
    "noise before": lambda data, chance: [chance.randbytes(chance.randint(1, 200)), data],
    "twice": lambda data, _chance: [data, data],
    "zeros": lambda data, _chance: [bytes(len(data))],
    "in pieces": lambda data, _chance: [data[at : at + 3] for at in range(0, len(data), 3)],
    "late": lambda data, chance: [b"", data][chance.randrange(2) :],
}


class BadLink:
    """A TCP port in front of a board's; while ``on``, pieces of the stream go wrong."""

    def __init__(self, board: str, seed: int, share: float = 0.15) -> None:
        host, _, port = board.removeprefix("socket://").partition(":")
        self._board = (host, int(port))
        self._chance = random.Random(seed)
        self._share = share
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"socket://127.0.0.1:{self._listener.getsockname()[1]}"
        self.on = False
        self.count = 0
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop serving."""
        self._listener.close()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                ours, _ = self._listener.accept()
                with ours, suppress(OSError), socket.create_connection(self._board) as theirs:
                    for end in (ours, theirs):
                        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    self._relay(ours, theirs)

    def _relay(self, ours: socket.socket, theirs: socket.socket) -> None:
        other = {ours: theirs, theirs: ours}
        while True:
            for end in select.select([ours, theirs], [], [])[0]:
                data = end.recv(65536)
                if not data:
                    return
                for piece in self._pieces(data):
                    other[end].sendall(piece)

    def _pieces(self, data: bytes) -> list[bytes]:
        if not self.on or self._chance.random() >= self._share:
            return [data]
        self.count += 1
        name = self._chance.choice(list(FAULTS))
        if name == "late":
            time.sleep(self._chance.uniform(0.01, 0.3))
        return FAULTS[name](data, self._chance)


@contextmanager
def _client(url: str, timeout_s: float = TIMEOUT_S) -> Iterator[ValidatorClient]:
    client = ValidatorClient(Link(url, board="sim"), timeout_s)
    try:
        yield client
    finally:
        client.close()


class Truth:
    """What TFLM on this PC computes: inputs, outputs, and the sizes of outputs."""

    def __init__(self) -> None:
        model = load_model(DIGITS)
        inputs = random_inputs(model, SAMPLES, 7)
        with Reference(model, paths=[TFLM_PATH]) as reference:
            (outputs,) = reference.run(inputs)[TFLM_PATH]
        self.inputs = [array.tobytes() for array in inputs.arrays[0]]
        self.outputs = [array.tobytes() for array in outputs]
        self.sizes = [len(self.outputs[0])]


def storm(folder: Path, count: int, seed: int) -> Tally:
    """Calls of a simulated board over a link with ``count`` faults."""
    tally, began, truth = Tally("link, simulated"), time.monotonic(), Truth()
    with simulated_board(folder, "--tcp", "127.0.0.1:0") as board:
        board.flash(DIGITS.read_bytes())
        board.client.configure()
        board.client.close()
        link = BadLink(str(board.ready["port"]), seed)
        chance = random.Random(seed)
        while link.count < count:
            _round(tally, link, board, truth, chance)
        tally.injected = link.count
        link.close()
    tally.seconds = time.monotonic() - began
    return tally


def _round(
    tally: Tally, link: BadLink, board: SimulatedBoard, truth: Truth, chance: random.Random
) -> None:
    """Some calls over the bad link, then one over the same link when it is good."""
    link.on = True
    with suppress(BoardError), _client(link.url) as client:
        for _ in range(20):
            if not _call(tally, link, client, truth, chance):
                break
    link.on = False
    case = f"after fault {link.count}"
    try:
        with _client(link.url, PATIENCE_S) as client:
            client.link.drain(1.0)
            client.identify()
            client.configure()
            number = chance.randrange(SAMPLES)
            good = client.infer([truth.inputs[number]], truth.sizes).outputs
    except BoardError as error:
        tally.hangs += 1
        tally.case(f"{case}: a good link does not work: {error}; {board.process.death(0)}")
        return
    if list(good) == [truth.outputs[number]]:
        tally.recovered += 1
    else:
        tally.wrong += 1
        tally.case(f"{case}: wrong outputs over a good link")


def _call(
    tally: Tally, link: BadLink, client: ValidatorClient, truth: Truth, chance: random.Random
) -> bool:
    """One call; False when it ended in an error."""
    number, began = chance.randrange(SAMPLES), time.monotonic()
    kind = chance.randrange(3)
    case = f"fault {link.count}, call {('infer', 'identify', 'describe')[kind]}"
    right = True
    try:
        if kind == 0:
            outputs = client.infer([truth.inputs[number]], truth.sizes).outputs
            right = list(outputs) == [truth.outputs[number]]
        elif kind == 1:
            right = client.identify().board == "apollo4p_evb"
        else:
            right = client.describe_output(0).size_bytes == truth.sizes[0]
    except BoardError:
        return False
    except Exception as error:
        tally.foreign += 1
        tally.case(f"{case}: {type(error).__name__}: {error}")
        return False
    finally:
        if time.monotonic() - began > 2 * TIMEOUT_S + GRACE_S:  # an identify goes before, once
            tally.hangs += 1
            tally.case(f"{case}: {time.monotonic() - began:.1f} s")
    if not right:
        tally.wrong += 1
        tally.case(f"{case}: wrong, and told as right")
    return True
