"""Guards one QEMU: ``python -m pytest_autodeploy.board.qemu RAM_BYTES QEMU ARGUMENT...``.

It prints one JSON line ``{"ready": true, "port": "socket://..."}``, carries bytes between that port
and the board, and kills QEMU when its standard input closes: so QEMU ends with whoever started
this, however that ended.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import sys
from typing import TYPE_CHECKING

from pytest_autodeploy.base import trace
from pytest_autodeploy.base.process import End, start_bound
from pytest_autodeploy.board.mailbox import Mailbox, shared_memory

if TYPE_CHECKING:
    import subprocess

_FULL_POLL_S = 0.005
_STDIN = 0


def main(ram_bytes: int, command: list[str]) -> None:
    """Run QEMU until it ends or standard input closes; exits with its words when it died."""
    trace.join("QEMU's guard")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    ours, theirs = socket.socketpair()
    with shared_memory(ram_bytes) as memory, socket.create_server(("127.0.0.1", 0)) as listener:
        mailbox = Mailbox(memory)
        with theirs:
            devices = _devices(memory.fileno(), ram_bytes, theirs.fileno())
            qemu = start_bound([*command, *devices], [memory.fileno(), theirs.fileno()])
        try:
            port = f"socket://127.0.0.1:{listener.getsockname()[1]}"
            sys.stdout.write(json.dumps({"ready": True, "port": port}) + "\n")
            sys.stdout.flush()
            text = Guard(qemu, mailbox, ours, listener).run()
        finally:
            qemu.kill()
            end = End(qemu.wait())
    if text is not None:
        sys.exit(f"QEMU {end.how}{text}")


def _devices(memory: int, ram_bytes: int, serial: int) -> list[str]:
    # The file has no name: QEMU opens it by the descriptor that it inherits.
    file = f"mem-path=/dev/fd/{memory},share=on,size={ram_bytes}"
    return [
        *("-object", f"memory-backend-file,id=shared,{file}"),
        *("-machine", "memory-backend=shared"),
        *("-chardev", f"socket,id=serial,fd={serial}"),
        *("-serial", "chardev:serial"),
    ]


class Guard:
    """Carries bytes between one host at a time and the board, and sees either end go."""

    def __init__(
        self,
        qemu: subprocess.Popen[bytes],
        mailbox: Mailbox,
        bell: socket.socket,
        listener: socket.socket,
    ) -> None:
        assert qemu.stderr is not None
        self._errors = qemu.stderr
        self._mailbox = mailbox
        self._bell = bell
        self._bell.setblocking(False)
        self._listener = listener
        self._host: socket.socket | None = None
        self._said = b""

    def run(self) -> str | None:
        """Serve to the end: QEMU's last line, or None when it was standard input that closed."""
        while True:
            ready = self._wait()
            if _STDIN in ready and not os.read(_STDIN, 4096):
                return None
            if self._errors in ready and not self._hear():
                return self._text()
            if self._listener in ready:
                self._drop_host()
                self._host, _ = self._listener.accept()
                self._host.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._host in ready:
                self._to_board()
            if self._bell in ready:
                self._to_host()

    def _wait(self) -> list[object]:
        sources: list[object] = [_STDIN, self._errors, self._listener, self._bell]
        full = self._host is not None and not self._mailbox.room
        if self._host is not None and not full:
            sources.append(self._host)
        ready, _, _ = select.select(sources, [], [], _FULL_POLL_S if full else None)  # type: ignore[type-var]
        return ready

    def _hear(self) -> bool:
        """Keep what QEMU says; False when it has gone."""
        said = os.read(self._errors.fileno(), 4096)
        self._said = (self._said + said)[-4096:]
        return bool(said)

    def _text(self) -> str:
        lines = self._said.decode(errors="replace").splitlines()
        # Libraries may write there, too; messages of QEMU begin with the name of its program.
        messages = [line.strip() for line in lines if line.startswith("qemu")]
        return f": {messages[-1]}" if messages else ""

    def _to_board(self) -> None:
        assert self._host is not None
        try:
            data = self._host.recv(self._mailbox.room)
        except OSError:
            data = b""
        if not data:
            self._drop_host()
            return
        self._mailbox.put(data)
        with contextlib.suppress(OSError):  # as many bells as fit wait already, or QEMU is dying
            self._bell.send(b"\0")

    def _to_host(self) -> None:
        with contextlib.suppress(OSError):
            self._bell.recv(4096)
        while data := self._mailbox.take():
            try:
                if self._host is not None:
                    self._host.sendall(data)
            except OSError:
                self._drop_host()

    def _drop_host(self) -> None:
        if self._host is not None:
            self._host.close()
            self._host = None


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
