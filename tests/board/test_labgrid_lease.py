"""Places of a lab: in line, acquired, used, and given back on every way out."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_autodeploy.board.labgrid.client import LabError
from pytest_autodeploy.board.labgrid.lease import Lease
from pytest_autodeploy.board.labgrid.owner import Owner, is_dead, new_owner
from pytest_autodeploy.board.labgrid.serial_port import address, choose_port, proxy
from pytest_autodeploy.board.labgrid.types import learn_types
from pytest_autodeploy.catalog.boards import UnknownBoard
from pytest_autodeploy.catalog.places import parse_place
from tests.helpers.fake_labgrid import FakeLab, power_port, raw_port

NEVER = 600.0


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeLab:
    """Two places of a type, one of another, and locks in a folder of the test."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    lab = FakeLab(tmp_path / "lab")
    lab.place("a", raw_port(17001), power_port(), aliases=["bench"])
    lab.place("b", raw_port(17002))
    lab.place("c", raw_port(17003), tags="board=apollo510_evb")
    return lab


@pytest.fixture
def lease_of(lab: FakeLab) -> Iterator[Callable[..., Lease]]:
    """Makes leases, which are released at the end."""
    made: list[Lease] = []

    def lease_of(name: str, board: str = "apollo4p_evb", wait_s: float = NEVER) -> Lease:
        wanted = parse_place(name)
        program = str(lab.client)
        lease = Lease(f"labgrid:{name}", board, wanted, program=program, wait_s=wait_s)
        made.append(lease)
        return lease

    yield lease_of
    for lease in made:
        lease.release()


LeaseOf = Callable[..., Lease]


@pytest.mark.parametrize("name", ["bench", "a+board=apollo4p_evb", "+board=apollo4p_evb"])
def test_a_free_place_is_acquired_and_given_back(
    lab: FakeLab, lease_of: LeaseOf, name: str
) -> None:
    lease = lease_of(name)
    assert lease.hold().place.name == "a"
    assert lease.hold().resources[0].params["port"] == 17001
    owner = lab.owner("a")
    assert owner is not None
    assert f"-autodeploy-{os.getpid()}-" in owner
    lease.release()
    assert lab.is_free()


@pytest.mark.slow
def test_two_runs_of_one_user_get_two_places(lab: FakeLab, lease_of: LeaseOf) -> None:
    places = {lease_of("+board=apollo4p_evb").hold().place.name for _ in range(2)}
    assert places == {"a", "b"}
    assert lab.owner("a") != lab.owner("b")


@pytest.mark.slow
def test_one_waits_for_the_other(lab: FakeLab, lease_of: LeaseOf) -> None:
    first, second = (
        lease_of("c", "apollo510_evb"),
        lease_of("+board=apollo510_evb", "apollo510_evb"),
    )
    first.hold()
    held: list[str] = []
    waiting = threading.Thread(target=lambda: held.append(second.hold().place.name))
    waiting.start()
    assert lab.becomes(lambda: "wait" in lab.commands)
    assert held == []
    first.release()
    waiting.join()
    assert held == ["c"]
    assert len(lab.state["acquired"]) == 2


def test_waiting_has_an_end_which_names_who_has_the_place(lab: FakeLab, lease_of: LeaseOf) -> None:
    lab.change(lambda state: state["places"]["c"].update(acquired="far/anna"))
    lease = lease_of("c", "apollo510_evb", wait_s=0.3)
    with pytest.raises(
        LabError, match=r"no place got free: used is c by far/anna since 2026-12-01"
    ):
        lease.hold()
    asked = len(lab.commands)
    with pytest.raises(LabError, match="no place got free"):
        lease.hold()  # it is not waited for again
    assert len(lab.commands) == asked
    assert not lab.state["reservations"]
    assert lab.owner("c") == "far/anna"


@pytest.mark.parametrize(
    ("name", "board", "says"),
    [
        ("nowhere", "apollo4p_evb", r"has not the place nowhere\n  there are a, b, c"),
        (
            "+board=apollo4p_evb,shelf=3",
            "apollo4p_evb",
            r"has not a place with .*\n  there are a \(",
        ),
        (
            "a+board=apollo510_evb",
            "apollo510_evb",
            "a has the tag board=apollo4p_evb, not apollo510",
        ),
    ],
)
def test_what_can_never_come_is_not_waited_for(
    lab: FakeLab, lease_of: LeaseOf, name: str, board: str, says: str
) -> None:
    with pytest.raises(LabError, match=says):
        lease_of(name, board).hold()
    assert lab.is_free()
    assert "reserve" not in lab.commands


@pytest.mark.slow
@pytest.mark.parametrize("command", ["places", "reserve", "acquire", "show"])
@pytest.mark.parametrize("how", ["garbage", "crash", "something is wrong"])
def test_a_step_that_fails_leaves_nothing_behind(
    lab: FakeLab, lease_of: LeaseOf, command: str, how: str
) -> None:
    lab.change(lambda state: state["once"].update({command: how}))
    with pytest.raises(LabError):
        lease_of("a").hold()
    assert lab.is_free()


@pytest.mark.slow
def test_a_coordinator_that_is_away_at_the_end_is_waited_for(
    lab: FakeLab, lease_of: LeaseOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_autodeploy.board.labgrid.keeping.GIVE_BACK_S", 0.2)
    lease = lease_of("a")
    lease.hold()
    lab.breaks("all", "away")
    lease.release()
    assert not lab.is_free()
    lab.mends()
    assert lab.becomes(lab.is_free)


@pytest.mark.slow
def test_a_place_that_was_taken_away_is_noticed(lab: FakeLab, lease_of: LeaseOf) -> None:
    lease = lease_of("a")
    lease.hold()
    lease.check()
    lab.change(lambda state: state["places"]["a"].update(acquired="far/anna"))
    with pytest.raises(LabError, match="a was taken from this run: far/anna has it"):
        lease.check()
    lease.release()
    assert lab.owner("a") == "far/anna"


RUN = """
import sys
from pytest_autodeploy.board.labgrid.lease import Lease
from pytest_autodeploy.catalog.places import parse_place
lease = Lease("labgrid:a", "apollo4p_evb", parse_place("a"), program=sys.argv[1], wait_s=600)
lease.hold()
print(lease._keeper.pid, flush=True)
sys.stdin.read()
"""


def run(lab: FakeLab) -> subprocess.Popen[str]:
    """A process that holds the place a until its input ends."""
    command = [sys.executable, "-c", RUN, str(lab.client)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)


@pytest.mark.slow
@pytest.mark.parametrize("way", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, None])
@pytest.mark.usefixtures("default_signals")
def test_however_a_run_ends_its_place_is_given_back(
    lab: FakeLab, way: signal.Signals | None
) -> None:
    with run(lab) as process:
        assert process.stdout is not None
        assert process.stdout.readline()
        assert lab.owner("a")
        if way is not None:
            process.send_signal(way)
        process.communicate()
    assert lab.becomes(lab.is_free)


@pytest.mark.slow
def test_a_run_that_is_killed_in_line_leaves_the_line(lab: FakeLab) -> None:
    lab.change(lambda state: state["places"]["a"].update(acquired="far/anna"))
    with run(lab) as process:
        assert lab.becomes(lambda: "wait" in lab.commands)
        process.kill()
    assert lab.becomes(lambda: not lab.state["reservations"])
    assert lab.owner("a") == "far/anna"


@pytest.mark.slow
def test_what_a_run_held_that_died_with_its_keeper_is_taken_by_the_next(
    lab: FakeLab, lease_of: LeaseOf
) -> None:
    with run(lab) as process:
        assert process.stdout is not None
        keeper = int(process.stdout.readline())
        dead = lab.owner("a")
        assert dead is not None
        assert not is_dead(dead)
        os.kill(keeper, signal.SIGKILL)
        process.kill()
    assert lab.owner("a") == dead
    assert lease_of("a").hold().place.name == "a"
    assert lab.owner("a") != dead


@pytest.mark.slow
def test_without_its_keeper_a_run_gives_back_by_itself(lab: FakeLab, lease_of: LeaseOf) -> None:
    lease = lease_of("a")
    lease.hold()
    assert lease._keeper is not None
    os.kill(lease._keeper.pid, signal.SIGKILL)
    lease.release()
    assert lab.is_free()


def test_of_owners_that_are_no_runs_here_nothing_is_known(lab: FakeLab) -> None:
    assert lab
    ours = new_owner()
    assert not is_dead("far/anna")
    assert not is_dead(str(ours))  # another folder for temporary files
    assert not is_dead(f"far/{ours.user}")
    ours.sign("run").release()
    assert is_dead(str(ours))
    lock = ours.sign("keeper")
    assert not is_dead(str(ours))
    lock.release()
    assert not is_dead(str(Owner("far", ours.user)))


def test_the_board_of_a_place_is_what_its_tag_says(lab: FakeLab) -> None:
    lab.place("untagged", tags="shelf=3")
    learn_types(["labgrid:c", "labgrid:+board=apollo4p_evb"], str(lab.client))
    for name, says in (("untagged", "set-tags board=NAME"), ("nowhere", "there are a, b, c")):
        with pytest.raises(UnknownBoard, match=says):
            learn_types([f"labgrid:{name}"], str(lab.client))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("resources", "says"),
    [
        ([], "has no NetworkSerialPort\n  there is nothing"),
        ([power_port()], "has no NetworkSerialPort\n  there is rig/x/NetworkPowerPort"),
        ([raw_port(), raw_port(2)], "has several serial ports: .*\n  name one: .* autodeploy$"),
        ([raw_port(avail=False)], "is away"),
        ([raw_port(orphaned=True)], "is away|no matching remote resource"),
        ([raw_port(None)], "cannot be used: raw at 127.0.0.1:None"),
        ([{**raw_port(), "params": {"protocol": "ssl", "host": "h", "port": 1}}], "ssl at h:1"),
    ],
)
def test_a_place_without_a_port_that_can_be_used_is_told(
    lab: FakeLab, lease_of: LeaseOf, resources: list[dict[str, Any]], says: str
) -> None:
    lab.place("x", *resources)
    lease = lease_of("x")
    with pytest.raises(LabError, match=says):
        address(choose_port(lease.hold().resources, "x", "labgrid:x"), "labgrid:x")
    lease.release()
    assert lab.is_free()


def test_of_several_ports_the_one_that_the_lab_named_is_used(
    lab: FakeLab, lease_of: LeaseOf
) -> None:
    behind = {"proxy": "gate", "proxy_required": True}
    params = {"host": "fd00::1", "port": 7}
    chosen = {"cls": "NetworkSerialPort", "params": params, "extra": behind, "name": "autodeploy"}
    lab.place("x", raw_port(), chosen)
    port = choose_port(lease_of("x").hold().resources, "x", "labgrid:x")
    assert address(port, "x") == ("rfc2217", "fd00::1", 7)  # what an exporter serves by itself
    assert proxy(port) == "gate"
