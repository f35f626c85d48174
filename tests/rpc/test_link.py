"""A port that cannot be opened says why and what to do."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from serial.tools import list_ports
from serial.tools.list_ports_common import ListPortInfo

from pytest_autodeploy.base.errors import BoardUnavailable
from pytest_autodeploy.rpc.link import Link
from pytest_autodeploy.sim.stream import TcpStream
from tests.helpers.rpc_board import pty_board


def test_a_missing_port_lists_those_that_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    port = ListPortInfo("/dev/ttyACM7")
    port.description = "J-Link"
    monkeypatch.setattr(list_ports, "comports", lambda: [port])
    with pytest.raises(BoardUnavailable) as error:
        Link("/dev/no-such-port", board="evb")
    assert str(error.value) == (
        "evb: port /dev/no-such-port does not exist\n  ports that exist: /dev/ttyACM7 (J-Link)"
    )


def test_a_busy_port_is_in_use_by_another_program() -> None:
    with pty_board() as board:
        first = Link(board.url, board="evb")
        with pytest.raises(BoardUnavailable, match=rf"port {board.url} is in use by another"):
            Link(board.url, board="evb")
        first.close()
        Link(board.url, board="evb").close()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may open every port")
def test_a_port_without_permission_names_the_group(tmp_path: Path) -> None:
    port = tmp_path / "ttyACM0"
    port.touch(mode=0)
    with pytest.raises(BoardUnavailable, match=rf"no permission.*\n.*{port.group()}"):
        Link(str(port), board="evb")


def test_a_file_is_no_port(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(BoardUnavailable, match="cannot open port"):
        Link(str(file), board="evb")


def test_nobody_listening_is_an_unavailable_board() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(BoardUnavailable, match=rf"cannot open socket://127.0.0.1:{port}.*refused"):
        Link(f"socket://127.0.0.1:{port}", board="evb")


@pytest.mark.parametrize("url", ["nonsense://x", "socket://", "socket://host:port"])
def test_a_malformed_url_is_an_unavailable_board(url: str) -> None:
    with pytest.raises(BoardUnavailable, match=f"cannot open {url}"):
        Link(url, board="evb")


def test_neither_end_of_a_tcp_link_holds_back_the_end_of_a_message() -> None:
    stream = TcpStream("127.0.0.1", 0)
    link = Link(stream.url, board="sim")
    try:
        link.begin("echo", 30)
        link.send(bytes(12))
        assert stream.read(30)  # it has accepted
        assert stream._client is not None
        for end in (link._port._socket, stream._client):
            assert end.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    finally:
        link.close()
        for end in (stream._client, stream._server):
            if end is not None:
                end.close()
