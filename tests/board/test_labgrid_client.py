"""What labgrid-client says, and what is made of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_autodeploy.board.labgrid.client import (
    Here,
    LabError,
    LabgridClient,
    NoCoordinator,
    NotOurs,
    clean_environment,
    find_client,
)
from pytest_autodeploy.board.labgrid.listing import (
    Garbled,
    parse_places,
    parse_reservations,
    parse_resources,
    parse_waited,
)
from pytest_autodeploy.catalog.boards import UnknownBoard
from pytest_autodeploy.catalog.kinds import LEASED, kind_of, spec_of
from pytest_autodeploy.catalog.places import learn_type, parse_place
from tests.helpers.fake_labgrid import FakeLab, raw_port

SHOWN = """\
Place 'board-a':
  aliases: bench, desk
  comment: of Anna
  acquired: nobody, she says
  tags: board=apollo4p_evb, shelf=3
  matches:
    rig/board-a/*
  acquired: vm/root
  acquired resources:
    rig/board-a/NetworkSerialPort/NetworkSerialPort
  created: 2026-12-01 17:40:27.217118
  changed: 2026-12-01 17:40:42.090766
  reservation: ZB4SE0IGKK
Acquired resource 'NetworkSerialPort' (rig/board-a/NetworkSerialPort/NetworkSerialPort):
  {'acquired': 'board-a',
   'avail': True,
   'cls': 'NetworkSerialPort',
   'params': {'extra': {'proxy': 'localhost', 'proxy_required': False},
              'host': '127.0.0.1',
              'port': 17001,
              'protocol': 'raw',
              'speed': 115200}}
Orphaned resource 'NetworkPowerPort' (rig/board-a/NetworkPowerPort/power)
"""
"""Of labgrid-client 26.0.1, but for the comment, which a user chooses, and the last line."""

WAITED = """\
owner: vm/root
token: E9KNNEHT5G
state: waiting
filters:
  main: board=apollo4p_evb
created: 2026-12-01 17:40:40.566944
timeout: 2026-12-01 17:41:40.567008
owner: vm/root
token: E9KNNEHT5G
state: allocated
filters:
  main: board=apollo4p_evb
allocations:
  main: board-b
created: 2026-12-01 17:40:40.566944
timeout: 2026-12-01 17:41:41.567008
"""


def client_of(lab: FakeLab, **more: str) -> LabgridClient:
    """labgrid-client as the user ``more`` says."""
    return LabgridClient(str(lab.client), "labgrid:a", Here(clean_environment(**more)))


@pytest.fixture
def lab(tmp_path: Path) -> FakeLab:
    lab = FakeLab(tmp_path / "lab")
    lab.place("a", raw_port())
    return lab


def test_a_place_is_read_and_its_comment_cannot_say_who_has_it() -> None:
    (place,) = parse_places(SHOWN)
    assert (place.name, place.acquired, place.reservation) == ("board-a", "vm/root", "ZB4SE0IGKK")
    assert place.aliases == ("bench", "desk")
    assert place.tags == {"board": "apollo4p_evb", "shelf": "3"}
    assert place.since == "2026-12-01 17:40:42"


def test_its_resources_are_read_and_those_whose_exporter_is_gone() -> None:
    port, power = parse_resources(SHOWN)
    assert (port.kind, port.available, port.orphaned) == ("NetworkSerialPort", True, False)
    assert port.params["port"] == 17001
    assert (power.path, power.orphaned) == ("rig/board-a/NetworkPowerPort/power", True)


def test_of_what_wait_prints_the_last_counts() -> None:
    found = parse_waited(WAITED)
    assert (found.token, found.state, found.place) == ("E9KNNEHT5G", "allocated", "board-b")
    assert parse_waited(WAITED[: WAITED.rindex("owner")]).state == "waiting"


@pytest.mark.parametrize(
    "text",
    [
        "hello",
        "Place 'a':\n  tags: x=y\n",
        "Place 'a':\n  acquired: None\n\x1b[31mTraceback\n",
        SHOWN.replace("{'acquired'", "__import__('os').abort() or {'acquired'"),
        SHOWN.replace("'params': {", "'params': ["),
    ],
)
def test_garbage_is_told_and_never_run(text: str) -> None:
    def read() -> None:
        parse_places(text)
        parse_resources(text)

    with pytest.raises(Garbled):
        read()


@pytest.mark.parametrize("text", ["Reservation 'X':\n  owner: a/b\n", "a: b"])
def test_half_a_reservation_is_garbage(text: str) -> None:
    with pytest.raises(Garbled):
        parse_reservations(text)
    with pytest.raises(Garbled):
        parse_waited(text)


def test_a_lab_is_used_from_the_queue_to_the_release(lab: FakeLab) -> None:
    client = client_of(lab)
    reservation = client.reserve(["name=a"])
    assert (reservation.state, reservation.place) == ("allocated", "a")
    client.acquire("a")
    place, (port,) = client.show("a")
    assert place.acquired == "bench/nobody"
    assert port.params["port"] == 17001
    client.release_from("a", "bench/nobody")
    client.cancel(reservation.token)
    assert lab.is_free()


def test_waiting_ends_when_its_time_is_up_and_keeps_the_place_in_line(lab: FakeLab) -> None:
    client_of(lab, LG_USERNAME="first").reserve(["name=a"])
    second = client_of(lab, LG_USERNAME="second")
    token = second.reserve(["name=a"]).token
    assert second.wait(token, 0.5) is None
    assert lab.state["reservations"][token]["polled"] > 0
    assert [each.token for each in second.reservations()][1] == token


def test_what_another_has_is_not_taken_from_him(lab: FakeLab) -> None:
    client_of(lab, LG_USERNAME="anna").acquire("a")
    ours = client_of(lab, LG_USERNAME="ben")
    with pytest.raises(NotOurs, match="acquire a: Place a is already acquired by bench/anna"):
        ours.acquire("a")
    ours.release_from("a", "bench/ben")
    assert lab.owner("a") == "bench/anna"


@pytest.mark.parametrize(
    ("how", "kind", "says"),
    [
        ("away", NoCoordinator, "the coordinator 10.0.0.1:1 does not answer"),
        ("garbage", LabError, "printed what is not understood"),
        ("old", LabError, "is too old\n  labgrid 25.0 or newer"),
        ("crash", LabError, "died of SIGABRT"),
        ("place pattern a matches nothing", NotOurs, "look at a: place pattern a matches nothing"),
    ],
)
def test_each_failure_says_what_it_is(
    lab: FakeLab, monkeypatch: pytest.MonkeyPatch, how: str, kind: type[LabError], says: str
) -> None:
    monkeypatch.setenv("LG_COORDINATOR", "10.0.0.1:1")
    lab.breaks("show", how)
    with pytest.raises(LabError) as caught:
        client_of(lab).show("a")
    assert type(caught.value) is kind
    assert says in str(caught.value)


def test_a_client_that_hangs_is_ended(lab: FakeLab) -> None:
    lab.breaks("reservations", "hang")
    client = client_of(lab)
    with pytest.raises(NoCoordinator, match=r"did not finish after 0\.5 s"):
        client._run("list the reservations", ["reservations"], 0.5)


@pytest.mark.parametrize("path", [None, "/nowhere/labgrid-client"])
def test_a_missing_client_is_told(path: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(LabError, match="install labgrid into an environment of its own"):
        find_client(path, "labgrid:a")


def test_variables_that_choose_a_place_do_not_reach_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LG_PLACE", "LG_ENV", "LG_TOKEN", "LG_STATE"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("LG_COORDINATOR", "lab:20408")
    monkeypatch.setenv("LG_PROXY", "gate")
    found = {key for key in clean_environment() if key.startswith("LG_")}
    assert found == {"LG_COORDINATOR", "LG_PROXY"}


def test_the_board_of_a_place_is_typed_or_learnt() -> None:
    assert kind_of("labgrid:lab3-a") is LEASED
    assert spec_of("labgrid:+board=apollo510_evb,shelf=3").name == "apollo510_evb"
    assert spec_of("labgrid:lab3-a+board=apollo3p_evb").name == "apollo3p_evb"
    with pytest.raises(UnknownBoard, match=r"say it: labgrid:lab3-x\+board=apollo4p_evb"):
        spec_of("labgrid:lab3-x")
    learn_type("lab3-y", "apollo4p_evb")
    assert spec_of("labgrid:lab3-y").name == "apollo4p_evb"
    with pytest.raises(UnknownBoard, match="Did you mean apollo4p_evb"):
        spec_of("labgrid:+board=apollo4p_ev")


@pytest.mark.parametrize("name", ["", "+", "+shelf=3", "+board", "-x", "a b", "a/b", "+board=a b"])
def test_what_names_no_place_is_refused(name: str) -> None:
    with pytest.raises(UnknownBoard, match=r"labgrid:PLACE"):
        parse_place(name)
