"""Emulated boards: our Arm firmware on QEMU, built, started, proven and always ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from pytest_autodeploy.base.errors import BoardDied, BoardTimeout, BoardUnavailable, WrongFirmware
from pytest_autodeploy.board.emulated import EmulatedBoard
from pytest_autodeploy.image.cache import Built
from pytest_autodeploy.image.errors import ToolMissing
from pytest_autodeploy.image.image import Image
from pytest_autodeploy.reference.inputs import random_inputs
from pytest_autodeploy.rpc.messages import BoardKind, Capability
from pytest_autodeploy.session.model_session import ModelSession
from tests.helpers.emulation import MACHINES, echo_board, echo_builder, image, machine, needs_qemu
from tests.helpers.fake_tools import ends, fake_program
from tests.helpers.scarce import run
from tests.helpers.support import ROOT
from tests.helpers.tflite_builder import relu

pytestmark = needs_qemu

LARGE = (1, 512, 512)  # 1 MB of float32


@pytest.fixture(scope="module")
def cache(firmware_cache: Path) -> Path:
    """One cache, so that the firmware is compiled once."""
    return firmware_cache


@pytest.fixture(params=MACHINES)
def board(request: pytest.FixtureRequest, cache: Path) -> Iterator[EmulatedBoard]:
    """Each machine with the echo engine."""
    emulated = echo_board(request.param, cache)
    yield emulated
    emulated.close()


@pytest.fixture
def loaded(cache: Path, small: Image) -> Iterator[EmulatedBoard]:
    """A board that runs the small image."""
    emulated = echo_board("mps2-an386", cache)
    emulated.load(small)
    yield emulated
    emulated.close()


@pytest.fixture
def small(tmp_path: Path) -> Image:
    """A model of one operator whose output is like its input."""
    return image(tmp_path, relu())


class Given:
    """A builder that gives what is there, for whatever image."""

    def __init__(self, built: Built) -> None:
        self._built = built

    def build(self, image: Image) -> Built:  # noqa: ARG002
        return self._built


def qemu_of(board: EmulatedBoard) -> int:
    """Process id of the QEMU behind a board's guard."""
    assert board.pid is not None
    return child_of(board.pid)


def stop(pid: int) -> None:
    """Stop a process, and wait until all of its threads have stopped."""
    os.kill(pid, signal.SIGSTOP)
    until = time.monotonic() + 10
    while any(state(stat) != "T" for stat in Path(f"/proc/{pid}/task").glob("*/stat")):
        assert time.monotonic() < until, "it did not stop"


def state(stat: Path) -> str:
    """The state of a thread, such as ``R`` or ``T``, in what proc tells of it."""
    return stat.read_text().rpartition(")")[2].split()[0]


def child_of(pid: int) -> int:
    """Process id of the only child of a process."""
    (child,) = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return int(child)


def test_it_says_what_it_is(board: EmulatedBoard, small: Image) -> None:
    identity = board.load(small)

    assert identity.kind is BoardKind.EMULATED
    assert identity.board == board.spec.name
    assert identity.core == board.spec.core
    assert identity.model_sha256.hex() == small.model.sha256
    assert identity.clocks_hz == (0, board.spec.clocks_hz["HP"])
    assert not identity.capabilities & (Capability.CYCLE_COUNTER | Capability.POWER_WINDOW)


def test_a_session_measures_instructions_that_repeat(board: EmulatedBoard, small: Image) -> None:
    session = ModelSession(small.model, board, inputs=random_inputs(small.model, 3, 42))
    result = session.run()
    first, second = session.latency(5), session.latency(5)
    profile = session.profile()

    np.testing.assert_array_equal(result.outputs[0], result.inputs.arrays[0])
    assert first == second
    assert len(set(first.samples_us)) == 1
    assert (first.source, profile.source, session.memory().source) == ("emulated",) * 3
    assert [layer.tag for layer in profile.layers] == ["ECHO"]


def test_a_megabyte_goes_in_and_comes_out(board: EmulatedBoard, tmp_path: Path) -> None:
    board.load(image(tmp_path, relu(LARGE)))
    board.client.configure()
    data = np.random.default_rng(42).bytes(1 << 20)
    board.client.write_input(0, data)
    board.client.invoke()

    assert board.client.read_output(0, len(data)) == data


def test_it_comes_back_after_a_reboot(loaded: EmulatedBoard, small: Image) -> None:
    loaded.client.configure()
    loaded.client.reboot()

    assert loaded.load(small).model_sha256.hex() == small.model.sha256


def test_the_same_image_is_not_started_again(loaded: EmulatedBoard, small: Image) -> None:
    before = qemu_of(loaded)
    loaded.load(small)
    loaded.load(Image(small.model, arena_bytes=8192))

    assert qemu_of(loaded) == before


def test_another_image_replaces_the_first(
    loaded: EmulatedBoard, small: Image, tmp_path: Path
) -> None:
    before = qemu_of(loaded)
    other = image(tmp_path, relu((1, 8)), "other")

    assert loaded.load(other).model_sha256.hex() == other.model.sha256
    assert ends(before)


def test_an_image_that_names_itself_otherwise_is_refused(cache: Path, small: Image) -> None:
    built = echo_builder("mps2-an386", cache).build(small)
    other = Given(Built(built.folder, "0" * 16, fresh=False))
    board = EmulatedBoard("qemu:x", machine("mps2-an386"), other, timeout_s=10)
    try:
        with pytest.raises(WrongFirmware, match=r"it runs the build .* of model, not '0000"):
            board.load(small)
    finally:
        board.close()


def test_a_qemu_that_is_killed_is_a_board_that_died(loaded: EmulatedBoard, small: Image) -> None:
    session = ModelSession(small.model, loaded, inputs=random_inputs(small.model, 1, 42))
    session.ensure()
    os.kill(qemu_of(loaded), signal.SIGKILL)

    with pytest.raises(BoardDied, match="QEMU died of SIGKILL") as caught:
        session.run()

    assert str(caught.value).startswith("qemu:mps2-an386: configure: its process")


def test_a_fresh_board_follows_one_that_died(loaded: EmulatedBoard, small: Image) -> None:
    os.kill(qemu_of(loaded), signal.SIGKILL)
    loaded.discard()

    assert loaded.load(small).model_sha256.hex() == small.model.sha256


def test_a_board_that_stops_is_named_with_the_seconds(loaded: EmulatedBoard) -> None:
    loaded.client.timeout_s = 0.5
    stop(qemu_of(loaded))

    with pytest.raises(
        BoardTimeout, match=r"qemu:mps2-an386: identify: no answer .*after [0-9.]+ s"
    ):
        loaded.client.identify()


def test_closing_ends_qemu_and_may_be_done_twice(loaded: EmulatedBoard) -> None:
    qemu = qemu_of(loaded)
    loaded.close()
    loaded.close()

    assert ends(qemu)
    assert loaded.port is None
    with pytest.raises(BoardUnavailable, match="not started"):
        _ = loaded.client


def test_qemu_ends_with_its_guard(loaded: EmulatedBoard) -> None:
    qemu, guard = qemu_of(loaded), loaded.pid
    assert guard is not None
    os.kill(guard, signal.SIGKILL)

    assert ends(qemu)


def test_qemu_ends_when_its_owner_is_killed(cache: Path, small: Image) -> None:
    script = (
        "import sys, time; from pathlib import Path;"
        "from tests.helpers.emulation import echo_board;"
        "from pytest_autodeploy.image.image import Image;"
        "from pytest_autodeploy.model.load import load_model;"
        "board = echo_board('mps2-an386', Path(sys.argv[1]));"
        "board.load(Image(load_model(Path(sys.argv[2]))));"
        "print(board.pid, flush=True); time.sleep(60)"
    )
    command = [sys.executable, "-c", script, str(cache), str(small.model.path)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        guard = int(owner.stdout.readline())
        qemu = child_of(guard)
        owner.kill()

    assert ends(guard)
    assert ends(qemu)


def test_without_qemu_the_error_says_how_to_get_it(
    cache: Path, small: Image, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = echo_builder("mps2-an386", cache).build(small)
    monkeypatch.setenv("PATH", str(tmp_path))
    bare = EmulatedBoard("qemu:x", machine("mps2-an386"), Given(built), timeout_s=10)
    with pytest.raises(ToolMissing, match="needs qemu-system-arm") as caught:
        bare.load(small)

    assert "apt install qemu-system-arm" in str(caught.value)


def test_a_qemu_that_does_not_start_says_why(
    cache: Path, small: Image, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "bin"
    fake_program(folder, "qemu-system-arm", "echo 'qemu-system-arm: no such machine' >&2; exit 1")
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    board = echo_board("mps2-an386", cache)
    session = ModelSession(small.model, board, inputs=random_inputs(small.model, 1, 42))
    try:
        with pytest.raises(BoardDied, match="QEMU exited with code 1: qemu-system-arm: no such"):
            session.ensure()
    finally:
        board.close()


def test_a_pc_without_room_for_the_memory_of_a_board_is_told(tmp_path: Path) -> None:
    """The board's memory is a file as large as it."""
    code = (
        "from pytest_autodeploy.board.emulated import EmulatedBoard\n"
        "from pathlib import Path\n"
        "from pytest_autodeploy.catalog.boards import board_spec\n"
        "from pytest_autodeploy.image.cache import Built\n"
        "spec = board_spec('mps2-an386', 'machine')\n"
        "board = EmulatedBoard('qemu:mps2-an386', spec, None, timeout_s=5)\n"
        "try:\n    board._boot(Built(Path('x'), 'y', fresh=False))\n"
        "except Exception as error:\n    print(error)\n"
    )
    done = run((sys.executable, "-c", code), tmp_path, file_bytes=1 << 20)
    assert "start: its process exited with code 1" in done.stdout
    assert "File too large" in done.stdout
    assert "ulimit -f unlimited" in done.stdout
