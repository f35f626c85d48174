"""Ports behind ssh: a program stands in for ssh, which forwards as ``ssh -L`` does."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_autodeploy.board.labgrid import tunnel
from pytest_autodeploy.board.labgrid.client import LabError
from pytest_autodeploy.board.labgrid.tunnel import Tunnel
from tests.helpers.fake_ssh import fake_ssh
from tests.helpers.fake_tools import ends, fake_program


@pytest.fixture
def pid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file into which ssh writes its process id."""
    return fake_ssh(tmp_path, monkeypatch)


@pytest.fixture
def board() -> Iterator[tuple[int, list[bytes]]]:
    """A port that says what it hears, and what it heard from each host."""
    heard: list[bytes] = []

    def serve() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            with connection:
                heard.append(connection.recv(100))
                connection.sendall(heard[-1].upper())

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1], heard
        server.shutdown(socket.SHUT_RDWR)


def test_it_leads_to_the_port_and_ends_with_its_user(
    pid: Path, board: tuple[int, list[bytes]]
) -> None:
    number, heard = board
    with Tunnel("gate", "127.0.0.1", number, "labgrid:a") as way:
        assert heard == []  # it was seen to listen without a connection to the board
        with socket.create_connection(("127.0.0.1", way.port)) as connection:
            connection.sendall(b"hello")
            assert connection.recv(100) == b"HELLO"
    way.close()
    assert ends(int(pid.read_text()))


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("echo 'gate: Permission denied (publickey).' >&2; exit 255", "Permission denied"),
        ("exit 1", "it said nothing"),
    ],
)
def test_an_ssh_that_ends_is_told_with_its_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, says: str
) -> None:
    fake_program(tmp_path, "ssh", script)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(LabError, match=f"no way through gate: ssh ended: .*{says}"):
        Tunnel("gate", "10.0.0.1", 1, "labgrid:a")


def test_an_ssh_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_program(tmp_path, "ssh", f"echo $$ > {tmp_path}/pid; exec sleep 600")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(tunnel, "CONNECT_S", -4.0)
    with pytest.raises(LabError, match=r"ssh does not connect after 1 s"):
        Tunnel("gate", "10.0.0.1", 1, "labgrid:a")
    assert ends(int((tmp_path / "pid").read_text()))


def test_a_missing_ssh_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(LabError, match="cannot run ssh"):
        Tunnel("gate", "10.0.0.1", 1, "labgrid:a")
