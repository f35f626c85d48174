"""The rig file: read strictly, and from nobody but this user and root."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_autodeploy.catalog.rig import RigBoard, RigError, UnknownRigBoard, parse_rig, read_rig
from pytest_autodeploy.catalog.rig_state import RigState, RigStateError
from tests.helpers.users import ATTACKER, VICTIM, everybodys_folder, needs_root, run_as

LAB = Path("lab.toml")
GOOD = """
# Two boards behind one meter.
[[board]]
name = "lab3-a"
type = "apollo4p_evb"
port = "/dev/ttyACM0"
probe = "1160002276"
meter = "000415"
power = ["relay", "--cycle", "3"]

[[board]]
name = "lab3-b"
type = "apollo4p_evb"
probe = "1160002277"
meter = "000415"
power = {hub = "1-1.4", port = 2}

[[board]]
name = "desk"
type = "sim:apollo4p_evb"
port = "socket://127.0.0.1:5000"
"""


def test_a_rig_file_has_boards() -> None:
    first, second, third = parse_rig(GOOD, LAB).boards
    relay = ("relay", "--cycle", "3")
    assert first == RigBoard(
        "lab3-a", "apollo4p_evb", "/dev/ttyACM0", "1160002276", "000415", relay, line=3
    )
    assert second.power_cycle == ("uhubctl", "-l", "1-1.4", "-p", "2", "-a", "cycle", "-d", "2")
    assert (second.port, second.attached) == (None, False)
    assert (third.attached, third.id, third.line) == (True, "sim:apollo4p_evb@desk", 18)


def test_a_type_means_all_its_boards_and_a_name_one_of_them() -> None:
    rig = parse_rig(GOOD, LAB)
    assert [board.name for board in rig.of("apollo4p_evb")] == ["lab3-a", "lab3-b"]
    assert rig.named("lab3-b").id == "apollo4p_evb@lab3-b"
    assert [board.name for board in rig.of("apollo4p_evb@lab3-b")] == ["lab3-b"]
    assert rig.of("apollo510_evb") == ()
    with pytest.raises(UnknownRigBoard) as raised:
        rig.named("lab3-c")
    assert str(raised.value) == (
        "no board 'lab3-c' in lab.toml\n  Did you mean lab3-b? Boards: lab3-a, lab3-b, desk"
    )


BOARD = '[[board]]\nname = "a"\ntype = "apollo4p_evb"\nport = "/dev/ttyACM0"\n'
SIM = '[[board]]\nname = "{}"\ntype = "sim:apollo4p_evb"\nport = "{}"\n'


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "lab.toml has no [[board]]"),
        ("board = 3", "lab.toml has no [[board]]"),
        ("[[board]\n", "lab.toml is no TOML: "),
        ("boards = []\n" + BOARD, "lab.toml, line 1: unknown key 'boards'"),
        (
            BOARD + 'prob = "1"',
            "lab.toml, line 5: board a: unknown key 'prob'; did you mean probe?",
        ),
        ('[[board]]\ntype = "apollo4p_evb"', "lab.toml, line 1: board 1: name is missing"),
        (
            BOARD + "probe = 1160002276",
            "lab.toml, line 5: board a: probe is 1160002276, not a text\n"
            '  put it in quotes: probe = "1160002276"',
        ),
        (BOARD + 'meter = ""', "line 5: board a: meter is '', which is empty"),
        (BOARD.replace('"a"', '"a b"'), "line 2: board a b: name is 'a b'\n  a name has"),
        (
            BOARD.replace("apollo4p", "apollo4q"),
            "line 3: board a: type: unknown board 'apollo4q_evb'\n  Did you mean apollo4p_evb?",
        ),
        (BOARD.replace("apollo4p", "qemu:apollo4p"), "line 3: board a: type: unknown board"),
        (
            BOARD.replace("apollo4p_evb", "virtual:apollo3p_evb"),
            "line 3: board a: type is 'virtual:apollo3p_evb', which a run starts by itself",
        ),
        (BOARD.replace("port", "# port"), "line 1: board a: it has neither port nor probe"),
        (
            SIM.format("a", "/dev/pts/1") + 'probe = "1"',
            "line 5: board a: no probe flashes a board of the type sim:apollo4p_evb",
        ),
        (BOARD + BOARD.replace("ACM0", "ACM1"), "line 6: board a: name a is that of board a, too"),
        (
            BOARD + BOARD.replace('"a"', '"b"'),
            "line 8: board b: port /dev/ttyACM0 is that of board a, too",
        ),
        (
            SIM.format("a", "socket://127.0.0.1:1") + SIM.format("b", "rfc2217://localhost:1"),
            "line 8: board b: port rfc2217://localhost:1 is that of board a, too",
        ),
        (
            BOARD + 'probe = "5"\n' + BOARD.replace('"a"', '"b"').replace("0", "1") + 'probe="005"',
            "line 10: board b: probe 005 is that of board a, too",
        ),
        (BOARD + 'power = "off"', "line 5: board a: power is 'off'\n  it is a command as a list"),
        (BOARD + "power = []", "line 5: board a: power is []"),
        (BOARD + 'power = ["relay", 3]', "line 5: board a: power is ['relay', 3]"),
        (BOARD + 'power = {hub = "1-1"}', "line 5: board a: power is {'hub': '1-1'}\n  {hub ="),
        (BOARD + 'power = {hub = "-a", port = 1}', "line 5: board a: power is"),
        (BOARD + 'power = {hub = "1-1", port = 0}', "line 5: board a: power is"),
    ],
)
def test_what_is_wrong_is_one_error_with_its_line(text: str, says: str) -> None:
    with pytest.raises(RigError) as raised:
        parse_rig(text, LAB)
    assert says in str(raised.value)


def test_boards_in_another_notation_have_errors_without_a_line() -> None:
    with pytest.raises(RigError, match=r"^lab\.toml: board a: port /dev/x is that of board b, too"):
        parse_rig(
            "board = [{name='b',type='apollo4p_evb',port='/dev/x'},"
            "{name='a',type='apollo4p_evb',port='/dev/x'}]",
            LAB,
        )


def test_links_to_one_device_are_one_port(tmp_path: Path) -> None:
    device = tmp_path / "device"
    device.touch()
    link = tmp_path / "link"
    link.symlink_to(device)
    with pytest.raises(RigError, match=r"port .*/link is that of board a, too"):
        parse_rig(SIM.format("a", device) + SIM.format("b", link), LAB)


def write(folder: Path, mode: int = 0o644) -> Path:
    path = folder / "lab.toml"
    path.write_text(GOOD)
    path.chmod(mode)
    return path


def test_a_rig_file_of_this_user_is_read(tmp_path: Path) -> None:
    assert len(read_rig(write(tmp_path)).boards) == 3


@pytest.mark.skipif(os.name != "posix", reason="rights of other users")
@pytest.mark.parametrize("mode", [0o666, 0o664])
def test_a_rig_file_that_others_may_change_is_refused(tmp_path: Path, mode: int) -> None:
    path = write(tmp_path, mode)
    with pytest.raises(RigError) as raised:
        read_rig(path)
    assert str(raised.value) == (
        f"the rig file is not trusted: others may write to {path}\n"
        f"  chmod go-w {path}, or use a file of your own, such as ~/.config/autodeploy/rig.toml"
    )


@pytest.mark.skipif(os.name != "posix", reason="rights of other users")
def test_a_rig_file_in_a_folder_where_others_could_put_another_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "everybodys"
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(RigError, match=f"every user may write to {folder}"):
        read_rig(write(folder))


READ = """
from pathlib import Path
try:
    print(len(read_rig(Path({path!r})).boards))
except RigError as error:
    print(error)
"""
IMPORTS = "from pytest_autodeploy.catalog.rig import RigError, read_rig\nimport getpass"


@needs_root
def test_a_rig_file_is_roots_or_ones_own() -> None:
    with everybodys_folder() as folder:
        path = write(folder)
        read = READ.format(path=str(path))
        assert run_as(VICTIM, read, folder=folder, imports=IMPORTS) == "3\n"
        os.chown(path, VICTIM, VICTIM)
        assert run_as(VICTIM, read, folder=folder, imports=IMPORTS) == "3\n"
        os.chown(path, ATTACKER, ATTACKER)
        refused = run_as(VICTIM, read, folder=folder, imports=IMPORTS)
    assert refused.startswith(
        f"the rig file is not trusted: {path} belongs to another user (uid {ATTACKER})"
    )


@pytest.mark.parametrize(
    ("content", "says"),
    [(b"\xff", "is no text in UTF-8: byte 0"), (b"#" * (1 << 20) + b"\n", "more than a rig file")],
)
def test_what_is_no_rig_file_is_refused(tmp_path: Path, content: bytes, says: str) -> None:
    path = write(tmp_path)
    path.write_bytes(content)
    with pytest.raises(RigError, match=says):
        read_rig(path)


def test_a_rig_file_that_is_missing_is_one_error(tmp_path: Path) -> None:
    with pytest.raises(RigError, match=r"cannot read the rig file .*nothing\.toml: No such file"):
        read_rig(tmp_path / "nothing.toml")


def test_a_board_is_taken_out_and_put_back(tmp_path: Path) -> None:
    state = RigState.beside(tmp_path / "lab.toml")
    assert state.read() == {}
    assert state.put_back("lab3-a") is None
    state.take_out("lab3-a", reason="cable")
    state.take_out("lab3-b", why="quarantine")
    (again,) = [RigState.beside(tmp_path / "lab.toml").read()["lab3-a"]]
    assert (again.why, again.reason) == ("by hand", "cable")
    assert again.text.endswith("Z: cable")
    out = state.put_back("lab3-a")
    assert out == again
    assert list(state.read()) == ["lab3-b"]


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b'{"version": 2, "out": {}}', b'{"version": 1, "out": {"a": 3}}', b"\xff"],
)
def test_a_state_that_cannot_be_read_is_an_error_and_not_changed(
    tmp_path: Path, content: bytes
) -> None:
    state = RigState(tmp_path / "lab.state.json")
    state.path.write_bytes(content)
    with pytest.raises(RigStateError, match=r"cannot use .*lab\.state\.json"):
        state.read()
    with pytest.raises(RigStateError):
        state.take_out("a")
    assert state.path.read_bytes() == content
