"""``autodeploy boards --rig`` and ``autodeploy doctor rig``: boards of a lab with their state."""

from __future__ import annotations

import os
import socket
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pytest_autodeploy.base.lease import take_lease
from pytest_autodeploy.board import probe
from pytest_autodeploy.cli.boards import boards
from pytest_autodeploy.doctor import rig as looks
from pytest_autodeploy.run.commissioned import (
    NotCommissioned,
    check_boards_commissioned,
    remember,
)
from tests.helpers.cli_support import keys_of, only_path, run, run_json
from tests.helpers.rigs import TYPE, running_boards, settings_of, write_rig
from tests.helpers.support import DIGITS, KWS

GONE = "/dev/no-such-port"


@pytest.fixture
def rig(tmp_path: Path) -> Path:
    return write_rig(tmp_path / "lab.toml", {"lab-a": "socket://127.0.0.1:9", "lab-b": GONE})


def states(rig: Path) -> dict[str, str]:
    """The state of each board, as JSON has it."""
    code, document = run_json("boards", "--rig", rig)
    assert code == 0
    return {each["board"]["name"]: each["state"] for each in document["rig"]}


def test_boards_are_shown_with_their_state(rig: Path) -> None:
    assert states(rig) == {"lab-a": "free", "lab-b": "missing"}
    lease = take_lease("socket://127.0.0.1:9", 1)
    assert states(rig) == {"lab-a": "leased", "lab-b": "missing"}
    lines = run("boards", "--rig", rig).stdout.splitlines()
    assert lines[0].split() == ["Board", "--evb", "Port", "State"]
    assert f" leased by process {os.getpid()} (" in lines[1]
    assert lines[2].endswith(f" missing port {GONE}")
    lease.release()


def test_a_board_is_taken_out_and_put_back(rig: Path) -> None:
    taken = run("boards", "--rig", rig, "--take-out", "lab-a", "--reason", "loose cable")
    assert taken.stdout.startswith("lab-a is taken out: no run will use it until --put-back lab-a")
    assert states(rig)["lab-a"] == "taken out"
    assert "taken out by hand, " in taken.stdout
    assert "Z: loose cable" in taken.stdout
    back = run("boards", "--rig", rig, "--put-back", "lab-a").stdout
    assert back.startswith("lab-a is back; it was out by hand, ")
    assert states(rig)["lab-a"] == "free"
    again = run("boards", "--rig", rig, "--put-back", "lab-a")
    assert again.stdout.startswith("lab-a was not taken out.")


def test_the_rig_may_be_named_by_the_environment(
    rig: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUTODEPLOY_RIG", str(rig))
    assert "lab-a" in run("boards", "--take-out", "lab-b").stdout


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--take-out", "lab-a"), "give the rig file: --rig FILE, or $AUTODEPLOY_RIG"),
        (("--rig", "RIG", "--reason", "x"), "--reason is that of --take-out NAME"),
        (("--rig", "RIG", "--take-out", "lab-x"), "no board 'lab-x' in "),
        (("--rig", "/no/such/rig.toml"), "cannot read the rig file /no/such/rig.toml: No such"),
    ],
)
def test_what_cannot_be_done_is_one_error(rig: Path, words: tuple[str, ...], says: str) -> None:
    found = run("boards", *(str(rig) if word == "RIG" else word for word in words))
    assert found.exit_code
    assert says in found.stderr
    assert run("doctor", "rig").exit_code == 2


def test_every_key_of_the_json_is_documented(rig: Path) -> None:
    run("boards", "--rig", rig, "--take-out", "lab-a")
    lease = take_lease(GONE, 1)
    _, document = run_json("boards", "--rig", rig)
    lease.release()
    assert {key for key in keys_of(document) if key not in str(boards.help)} == {"schema"}


def checks(rig: Path) -> dict[str, str]:
    """What doctor found of a rig that is not healthy, by the names of its checks."""
    code, document = run_json("doctor", "rig", "--rig", rig)
    assert code == 1
    (goal,) = document["goals"]
    return {each["name"]: f"{each['state']}: {each['found']}" for each in goal["checks"]}


def test_doctor_looks_at_each_board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    only_path(monkeypatch, tmp_path / "programs")
    monkeypatch.setattr(looks, "connected_probes", lambda: [probe.Connected("5", "J-Link")])
    looks._connected.cache_clear()
    with socket.create_server(("127.0.0.1", 0)) as server:
        there = f"socket://127.0.0.1:{server.getsockname()[1]}"
        rig = write_rig(
            tmp_path / "lab.toml",
            {"a": there, "b": "socket://127.0.0.1:1", "c": GONE, "d": "/dev/x"},
        )
        rig.write_text(
            rig.read_text()
            + '[[board]]\nname="e"\ntype="apollo4p_evb"\nprobe="005"\n'
            + '[[board]]\nname="f"\ntype="apollo4p_evb"\nprobe="6"\npower=["no-such-relay"]\n'
        )
        run("boards", "--rig", rig, "--take-out", "d")
        found = checks(rig)
    assert found["a"] == f"ok: sim:apollo4p_evb, {there}: free"
    assert found["b port"] == "trouble: socket://127.0.0.1:1: [Errno 111] Connection refused"
    assert found["c"] == f"trouble: sim:apollo4p_evb, {GONE}: missing port {GONE}"
    assert found["d"].startswith("trouble: sim:apollo4p_evb, /dev/x: taken out by hand")
    assert found["e"] == "ok: apollo4p_evb, probe 005: free"
    assert found["f probe"] == "trouble: no probe 6; there: 5"
    assert found["f power"] == "trouble: no program no-such-relay"
    assert {name for name in found if name.startswith(("a ", "e "))} == set()


def test_doctor_leaves_a_board_alone_that_is_in_use(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        port = f"socket://127.0.0.1:{server.getsockname()[1]}"
        rig = write_rig(tmp_path / "lab.toml", {"a": port})
        lease = take_lease(port, 1)
        assert run("doctor", "rig", "--rig", rig).exit_code == 0
        lease.release()
        with pytest.raises(TimeoutError):
            server.accept()


def test_commands_use_a_board_of_the_rig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    with running_boards(tmp_path, {"a": KWS, "b": DIGITS}) as ports:
        rig = write_rig(tmp_path / "lab.toml", ports)
        words = ("diff", DIGITS, "--rig", rig, "--runs", "1", "--evb")
        assert run(*words, "name:b").exit_code == 0
        other = run(*words, "name:a")
        assert other.exit_code == 1
        assert "it runs a model of SHA-256 " in other.stderr
        unknown = run(*words, "name:c")
        assert (unknown.exit_code, "Boards: a, b" in unknown.stderr) == (2, True)


def test_each_board_of_a_rig_has_to_be_commissioned(
    rig: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(rig.parent / "cache"))
    settings = settings_of(rig, evb_commissioned="7d")
    now = datetime.now(UTC).isoformat()
    remember(f"{TYPE}@lab-a", None, now, green=True)
    with pytest.raises(NotCommissioned, match=f"{TYPE}@lab-b was never commissioned"):
        check_boards_commissioned(settings)
    remember(f"{TYPE}@lab-b", None, now, green=True)
    check_boards_commissioned(settings)
