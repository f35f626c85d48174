"""``autodeploy boards``: the catalog, what is plugged in, and what each kind lacks."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from serial.tools import list_ports
from serial.tools.list_ports_common import ListPortInfo

from pytest_autodeploy.baseline.commit import Commit
from pytest_autodeploy.baseline.history import History, Run
from pytest_autodeploy.board.use import BoardUse
from pytest_autodeploy.catalog import boards as catalog
from pytest_autodeploy.catalog.boards import board_names
from pytest_autodeploy.catalog.chips import find_chip
from pytest_autodeploy.catalog.rig_state import RigState
from pytest_autodeploy.cli.boards import boards
from pytest_autodeploy.doctor import boards as connected
from tests.helpers import fake_jlink
from tests.helpers.cli_support import keys_of, only_path, run, run_json
from tests.helpers.fake_tools import fake_program
from tests.helpers.hardware_bench import usb_port

J_LINK = usb_port("/dev/ttyACM0", 0x1366, "001160002276", "J-Link")
CDC = usb_port("/dev/ttyACM3", 0xCAFE, "1234", "TinyUSB CDC")
FTDI = usb_port("/dev/ttyUSB0", 0x0403, None, "FT232R")


@pytest.fixture(autouse=True)
def ports(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[ListPortInfo]:
    """The serial ports of this PC, on which nothing is installed."""
    ports: list[ListPortInfo] = []
    monkeypatch.setattr(list_ports, "comports", lambda: ports)
    monkeypatch.setattr(connected, "find_pyocd", list)
    only_path(monkeypatch, tmp_path / "bin")
    return ports


def fake_j_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *probes: tuple[str, str]) -> None:
    monkeypatch.setenv("FAKE_JLINK", str(tmp_path))
    state = {"mode": "good", "probes": probes, "bench": 0}
    (tmp_path / "jlink.json").write_text(json.dumps(state))
    fake_program(tmp_path / "bin", "JLinkExe", f'exec {sys.executable} {fake_jlink.__file__} "$@"')


def test_all_boards_are_listed_with_memories_and_clocks() -> None:
    text = run("boards").stdout

    for name in board_names():
        assert f"\n{name} " in text
        assert f" sim:{name} " in text
    assert "qemu:mps2-an386" in text
    for name in board_names("virtual"):
        assert f" virtual:{name} " in text
    assert "96/250 MHz" in text
    assert "MRAM 3,225, SRAM 2,457, DTCM 346" in text


def test_json_has_the_catalog_in_bytes_and_hertz() -> None:
    code, document = run_json("boards")

    assert code == 0
    board = next(board for board in document["boards"] if board["name"] == "apollo510_evb")
    assert board["ids"] == ["apollo510_evb", "sim:apollo510_evb"]
    machine = next(board for board in document["boards"] if board["name"] == "mps2-an386")
    assert machine["ids"] == ["qemu:mps2-an386", "virtual:mps2-an386"]
    assert board["memories"]["sram"] == {"bytes": 3145728, "usable_bytes": 2516582}
    assert board["clocks_hz"] == {"LP": 96_000_000, "HP": 250_000_000}


def test_what_cannot_be_virtual_says_why_and_what_was_never_tried_is_marked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _, document = run_json("boards")
    state = {board["name"]: board["virtual"] for board in document["boards"]}
    assert state["apollo3p_evb"] == state["mps2-an386"] == "tried"
    assert state["apollo4p_evb"] == state["apollo4l_blue_evb"] == "not modelled"
    assert state["apollo510_evb"] == state["mps3-an547"] == "no Helium"
    assert " (not modelled) " in run("boards").stdout

    chip = find_chip("apollo3p")
    assert chip is not None
    untried = replace(chip, tried=False)
    monkeypatch.setattr(catalog, "find_chip", lambda name: untried if name == "apollo3p" else None)
    assert " virtual:apollo3p_evb (untried) " in run("boards").stdout


def test_every_key_of_the_json_is_in_the_help(ports: list[ListPortInfo]) -> None:
    ports.append(CDC)
    _, document = run_json("boards")

    undocumented = {key for key in keys_of(document) if key not in str(boards.help)}
    assert undocumented == {"schema"}


def test_what_a_kind_of_board_lacks_is_said_in_a_word() -> None:
    _, document = run_json("boards")
    lacks = {kind["kind"]: kind["lacks"] for kind in document["kinds"]}

    assert lacks["emulated"] == ["Arm compiler", "CMake", "ninja or make", "TFLM tree", "QEMU"]
    assert lacks["hardware"] == ["Arm compiler", "make", "neuralSPOT", "probe tool"]
    assert "lacks Arm compiler, make, neuralSPOT, probe tool" in run("boards").stdout


def test_ports_are_matched_with_boards_by_their_usb_ids(ports: list[ListPortInfo]) -> None:
    ports += [FTDI, J_LINK, CDC]

    _, document = run_json("boards")

    j_link, cdc = document["ports"]
    assert (j_link["device"], j_link["vid"]) == ("/dev/ttyACM0", 0x1366)
    assert j_link["boards"] == ["apollo3p_evb", "apollo4l_evb", "apollo4l_blue_evb"]
    assert "apollo510_evb" in cdc["boards"]
    assert "/dev/ttyACM0 (J-Link) may be apollo3p_evb or apollo4l_evb" in run("boards").stdout


def test_probes_are_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_j_link(tmp_path, monkeypatch, ("1160002276", "J-Link-OB"))

    _, document = run_json("boards")

    assert document["probes"] == [{"serial": "1160002276", "name": "J-Link-OB"}]
    assert "probe 1160002276 (J-Link-OB)" in run("boards").stdout


def test_a_probe_tool_that_hangs_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connected, "TIMEOUT_S", 0.2)
    fake_program(tmp_path / "bin", "JLinkExe", "exec /bin/sleep 60")

    code, document = run_json("boards")

    assert code == 0
    assert document["probe_error"] == "J-Link Commander does not list the probes"
    assert "probes: J-Link Commander does not list the probes" in run("boards").stdout


def test_without_any_it_says_so() -> None:
    assert "no debug probe is connected" in run("boards").stdout


def test_the_wiring_of_each_board_is_told_before_any_meter_is_there() -> None:
    lines = {line.split()[0]: line for line in run("boards").stdout.splitlines() if "_evb" in line}
    assert " 61/23/24 " in lines["apollo4l_evb"]
    assert " 26/24/25 (app 22/23/24) " in lines["apollo3p_evb"]
    (lite,) = (
        each
        for each in json.loads(run("boards", "--json").stdout)["boards"]
        if each["name"] == "apollo4l_evb"
    )
    assert lite["power_pins"] == {"in0": 61, "in1": 23, "trigger": 24}
    assert lite["io_voltage"] == 1.8


def test_health_says_what_each_board_went_through(tmp_path: Path) -> None:
    history = History(tmp_path / "history.sqlite")
    began = Run("2026-01-01T10:00:00+00:00", Commit("0a"), "pytest", "0.1.0", host="rig-1")
    use = BoardUse("apollo4p_evb", "lab3-a", "1160001234", None, 4, 1, 1, 7, 12.4)
    history.add(began, [], uses=[use])
    said = run("boards", "--health", str(history.path))
    assert said.exit_code == 0
    heading, line = said.stdout.splitlines()
    assert heading.split("  ")[0] == "Board"
    assert line.startswith("lab3-a (apollo4p_evb, 1160001234)")
    assert "1 in 1 run, last 2026-01-01" in line
    assert "+12 ppm" in line
    _, document = run_json("boards", "--health", history.path)
    (found,) = document["health"]
    assert found == {
        "board": "apollo4p_evb",
        "name": "lab3-a",
        "serial": "1160001234",
        "port": "",
        "host": "",
        "runs": 1,
        "last": "2026-01-01T10:00:00+00:00",
        "flashes": 4,
        "breaks": 1,
        "broke_in": 1,
        "broke_last": "2026-01-01T10:00:00+00:00",
        "retries": 1,
        "retransmissions": 7,
        "clock_ppm": 12.4,
        "clock_drift_ppm": None,
    }


def test_health_of_a_file_that_is_not_there_makes_none(tmp_path: Path) -> None:
    assert run("boards", "--health", str(tmp_path / "no.sqlite")).exit_code == 2
    assert not (tmp_path / "no.sqlite").exists()


def test_health_of_a_history_without_any_says_so(tmp_path: Path) -> None:
    History(tmp_path / "history.sqlite").check()
    said = run("boards", "--health", str(tmp_path / "history.sqlite"))
    assert "no run that says what its boards went through" in said.stdout


def test_a_board_is_lifted_from_quarantine(tmp_path: Path) -> None:
    state = RigState(tmp_path / "quarantine.json")
    state.take_out("lab-a", why="quarantine", reason="broke with k and l: died")
    state.take_out("lab-b", why="quarantine", reason="broke with k and m: died")
    assert "lab-a: quarantine, " in run("boards", "--quarantine", state.path).stdout
    said = run("boards", "--lift", "lab-a", "--quarantine", state.path)
    assert said.stdout.startswith("lab-a is lifted: runs lease it again.\nlab-b: quarantine, ")
    assert list(state.read()) == ["lab-b"]
    code, document = run_json("boards", "--lift", "lab-b", "--quarantine", state.path)
    assert (code, document["lifted"], document["out"]) == (0, "lab-b", {})


def test_what_cannot_be_lifted_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "quarantine.json"
    assert "needs the file" in run("boards", "--lift", "lab-a").stderr
    missing = run("boards", "--lift", "lab-a", "--quarantine", file)
    assert missing.exit_code == 2
    assert "no board 'lab-a' is in quarantine" in missing.stderr
    file.write_text('{"version": 1, "out": {}}')
    file.chmod(0o666)
    assert "is not trusted" in run("boards", "--quarantine", file).stderr
