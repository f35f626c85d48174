"""A real labgrid on the loopback: coordinator, exporter and client, and simulated boards."""

from __future__ import annotations

import http.server
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.helpers.real_labgrid import NoLabgrid, RealLab, environment, real_lab, serial_port
from tests.helpers.support import DIGITS, ROOT

pytestmark = pytest.mark.slow

KILLS = int(os.environ.get("AUTODEPLOY_LAB_KILLS", "2"))
"""Times at which a run is killed; each costs some seconds."""

RUN_S = 9.0
"""About how long a run takes, most of it in labgrid's client."""

RESERVED_S = 60 + 15 + 15
"""labgrid 26: a reservation that nobody asks for falls after 60 s, which is looked at each 15 s."""

TAGS = {"board": "apollo4p_evb"}


@pytest.fixture(scope="module")
def programs() -> Path:
    """labgrid's programs; where they cannot be had at a desk, that is a reason to skip."""
    try:
        return environment()
    except NoLabgrid as error:
        if os.environ.get("AUTODEPLOY_NEEDS_LABGRID"):  # .ci/run sets it
            raise
        pytest.skip(f"labgrid cannot be installed: {error}")


@contextmanager
def board(model: Path = DIGITS, at: str = "127.0.0.1:0") -> Iterator[str]:
    """A simulated board that runs a model; gives its URL."""
    command = [sys.executable, "-m", "pytest_autodeploy.sim", "--board", "apollo4p_evb"]
    with subprocess.Popen(
        [*command, "--model", str(model), "--tcp", at],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdout is not None
        yield str(json.loads(process.stdout.readline())["port"])
        process.terminate()


@pytest.fixture(scope="module")
def lab(programs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealLab]:
    """Two places that are simulated boards on TCP, one of them on a shelf of its own."""
    assert programs
    with ExitStack() as stack:
        places = {name: serial_port(stack.enter_context(board())) for name in ("one", "two")}
        tags = {"one": TAGS, "two": {**TAGS, "shelf": "two"}}
        yield stack.enter_context(real_lab(tmp_path_factory.mktemp("lab"), places, tags))


def start(lab: RealLab, folder: Path, evb: str) -> subprocess.Popen[str]:
    """A run of the built-in tests on a board of the lab."""
    folder.mkdir()
    command = [sys.executable, "-m", "pytest", "autodeploy", f"--tflite={DIGITS}", "--evb", evb]
    command += [f"--evb-labgrid-client={lab.client}", "-p", "no:cacheprovider", "-v"]
    return subprocess.Popen(
        command,
        cwd=folder,
        env=os.environ | lab.environment | {"PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def result_of(folder: Path) -> dict[str, object]:
    """What the run kept of its board."""
    (file,) = folder.glob("autodeploy-results/*/*/result.json")
    board = json.loads(file.read_text())["board"]
    assert isinstance(board, dict)
    return board


def test_a_place_is_run_on_and_labelled_by_what_its_board_says(
    lab: RealLab, tmp_path: Path
) -> None:
    with start(lab, tmp_path / "run", "labgrid:one") as run:
        output, _ = run.communicate()
    assert "4 passed" in output, output
    found = result_of(tmp_path / "run")
    assert (found["kind"], found["source"], found["serial"]) == ("simulated", "modelled", "one")
    assert lab.is_free()


def test_two_runs_side_by_side_get_a_place_each(lab: RealLab, tmp_path: Path) -> None:
    names = ("a", "b")
    runs = [start(lab, tmp_path / name, "labgrid:+board=apollo4p_evb") for name in names]
    for run in runs:
        with run:
            output, _ = run.communicate()
        assert "4 passed" in output, output
    assert {result_of(tmp_path / name)["serial"] for name in names} == {"one", "two"}
    assert lab.is_free()


def test_one_waits_for_the_other_where_one_place_fits(lab: RealLab, tmp_path: Path) -> None:
    since = len(lab.events)
    evb = "labgrid:+board=apollo4p_evb,shelf=two"
    runs = [start(lab, tmp_path / name, evb) for name in ("a", "b")]
    outputs = []
    for run in runs:
        with run:
            outputs.append(run.communicate()[0])
    assert all("4 passed" in output for output in outputs), outputs
    changes = [event.line for event in lab.events[since:] if event.line.startswith("two: place")]
    assert [line.split()[2] for line in changes] == ["acquired", "released"] * 2
    assert changes[0] != changes[2]  # by another run
    assert lab.is_free()


def test_a_killed_runs_place_is_free_again(lab: RealLab, tmp_path: Path) -> None:
    """Whenever it is killed, the keeper gives all back; what it cannot know falls by itself."""
    took: list[tuple[float, float]] = []
    for number in range(KILLS):
        chance = random.Random(number)
        with start(lab, tmp_path / f"run{number}", "labgrid:one") as run:
            after = RUN_S * (number + chance.random()) / KILLS
            time.sleep(after)
            run.send_signal(signal.SIGKILL)
            killed = time.monotonic()
            run.communicate()
        while not lab.is_free():
            assert time.monotonic() < killed + RESERVED_S, lab.ask("-v", "places")
        took.append((after, time.monotonic() - killed))
    lines = [f"killed after {after:4.1f} s: free within {free:4.1f} s" for after, free in took]
    (tmp_path / "kills.txt").write_text("\n".join(lines))
    with start(lab, tmp_path / "next", "labgrid:one") as run:
        output, _ = run.communicate()
    assert "4 passed" in output, output


class Power(http.server.BaseHTTPRequestHandler):
    """A switch as labgrid's power model ``rest`` knows it: PUT 0 is off, 1 is on."""

    asked: list[str]
    board_is_back: threading.Event

    def do_PUT(self) -> None:
        value = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.asked.append(value)
        if value == "1":
            self.board_is_back.set()
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Quiet."""


def test_the_power_of_a_board_that_hangs_is_cut(programs: Path, tmp_path: Path) -> None:
    assert programs
    asked: list[str] = []
    back = threading.Event()
    handler = type("Handler", (Power,), {"asked": asked, "board_is_back": back})
    with ExitStack() as stack:
        server = stack.enter_context(http.server.HTTPServer(("127.0.0.1", 0), handler))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        stack.callback(server.shutdown)
        with board() as url:  # to have a port, on which nobody listens now
            pass
        url_of_power = f"http://127.0.0.1:{server.server_port}/{{index}}"
        power = {"model": "rest", "host": url_of_power, "index": "1"}
        places = {"one": serial_port(url, NetworkPowerPort=power)}

        def revive() -> None:
            back.wait(120)
            stack.enter_context(board(at=url.removeprefix("socket://")))

        reviving = threading.Thread(target=revive)
        reviving.start()
        with (
            real_lab(tmp_path / "lab", places, {"one": TAGS}) as lab,
            start(lab, tmp_path / "run", "labgrid:one") as run,
        ):
            output, _ = run.communicate()
            assert lab.is_free()
        reviving.join()
        assert asked == ["0", "1"]
        assert "4 passed" in output, output
