"""Opening of serial ports and URLs, with errors that say what to do."""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import warnings
from pathlib import Path
from typing import Any

from serial import serial_for_url
from serial.tools import list_ports

from pytest_autodeploy.base.errors import BoardUnavailable
from pytest_autodeploy.base.exhausted import PcExhausted, exhausted

READ_TIMEOUT_S = 0.05
"""Of one read of the port. It never changes: setting it on an open port reconfigures the port."""

READ_BYTES = 4096
"""At most so many bytes are read where it is not known how many will come."""

WRITE_BYTES = 4096
"""At most so many bytes go to the port in one write, so that the deadline is looked at between."""

SOCKET_MODULE = "serial.urlhandler.protocol_socket"
"""Where the class of a port is that is a bare TCP connection."""

_BITS_PER_BYTE = 10
_BUSY = {errno.EBUSY, errno.EAGAIN, errno.EWOULDBLOCK}


def open_port(url: str, *, board: str, baudrate: int) -> Any:
    """Opens a device path, ``socket://HOST:PORT`` or ``rfc2217://HOST:PORT``, shared with nobody.

    Raises BoardUnavailable: the port is missing, busy, not permitted, or cannot be opened; and
    PcExhausted when no more files can be open.
    """
    try:
        with warnings.catch_warnings():
            # pySerial names its threads the old way; with -W error no port would open.
            warnings.simplefilter("ignore", DeprecationWarning)
            # pySerial 3.5 opens a port twice without a word; an exclusive open is refused only
            # while another exclusive one is there (flock), so boards have locks besides.
            port = serial_for_url(
                url,
                baudrate=baudrate,
                timeout=READ_TIMEOUT_S,
                write_timeout=_write_timeout_s(url, baudrate),
                exclusive=True,
            )
    except (OSError, ValueError) as error:
        raise _explain(error, url, board) from error
    _send_at_once(port)
    return port


def close_port(port: Any) -> None:
    """Closes a port; may be called twice.

    pySerial would wait 0.3 s after a socket, and leak it when the other end has gone.
    """
    if type(port).__module__ == SOCKET_MODULE and port.is_open:
        port._socket.close()
        port._socket = None
        port.is_open = False
    port.close()


def _write_timeout_s(url: str, baudrate: int) -> float | None:
    if url.lower().startswith("rfc2217://"):
        return None  # pySerial knows none here, and its socket gives up after 5 s
    return 1 + 2 * WRITE_BYTES * _BITS_PER_BYTE / baudrate


def _send_at_once(port: Any) -> None:
    """Without this, TCP holds back the end of a request for up to 40 ms."""
    connection = getattr(port, "_socket", None)
    if isinstance(connection, socket.socket):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def _explain(error: Exception, url: str, board: str) -> BoardUnavailable | PcExhausted:
    if known := exhausted(error):
        return known
    code = getattr(error, "errno", None)
    if "://" in url:
        return BoardUnavailable(
            f"cannot open {url}: {error}",
            board=board,
            hint="check that its server runs, and HOST:PORT",
        )
    if code == errno.ENOENT or "FileNotFoundError" in str(error):
        return BoardUnavailable(f"port {url} does not exist", board=board, hint=_existing())
    if code in _BUSY or "PermissionError" in str(error):
        return BoardUnavailable(
            f"port {url} is in use by another program", board=board, hint=_close(url)
        )
    if code in (errno.EACCES, errno.EPERM):
        return BoardUnavailable(f"no permission for port {url}", board=board, hint=_group(url))
    return BoardUnavailable(f"cannot open port {url}: {error}", board=board, hint=_existing())


def holders(url: str) -> list[str]:
    """The other programs that have a port open, such as ``screen (4711)``, with their process ids.

    Only those whose open files this user may see; none where the system has no ``/proc``.
    """
    device = os.path.realpath(url)
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it ended, or is another user's
            if int(process.name) != os.getpid() and device in _open_files(process):
                found.append(f"{process.joinpath('comm').read_text().strip()} ({process.name})")
    return sorted(found)


def _open_files(process: Path) -> set[str]:
    files = set()
    for descriptor in process.joinpath("fd").iterdir():
        with contextlib.suppress(OSError):
            files.add(os.readlink(descriptor))  # noqa: PTH115  # a name, also of what is no path
    return files


def _close(url: str) -> str:
    names = ", ".join(holders(url)) or "such as a terminal program or another run"
    return f"end that program: {names}"


def _existing() -> str:
    ports = [f"{port.device} ({port.description})" for port in list_ports.comports()]
    return f"ports that exist: {', '.join(ports) or 'none'}"


def _group(url: str) -> str:
    with contextlib.suppress(ImportError, OSError, KeyError):
        return f"join the group that may use it: sudo usermod -aG {Path(url).group()} $USER"
    return "ask for the right to use it"
