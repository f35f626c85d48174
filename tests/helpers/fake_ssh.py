"""A program in the place of ssh, which forwards a port as ``ssh -L`` does."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.helpers.fake_tools import fake_program

SSH = """
import os, socket, sys, threading
words = sys.argv[1:]
spec = words[words.index("-L") + 1]
host, port, target_host, target_port = spec.split(":")
assert words[-2:] == ["--", "gate"] and "BatchMode=yes" in words
open(os.environ["FAKE_SSH_PID"], "w").write(str(os.getpid()))
server = socket.create_server((host, int(port)))

def pump(a, b):
    while data := a.recv(4096):
        b.sendall(data)

while True:
    ours, _ = server.accept()
    theirs = socket.create_connection((target_host, int(target_port)))
    for pair in ((ours, theirs), (theirs, ours)):
        threading.Thread(target=pump, args=pair, daemon=True).start()
"""


def fake_ssh(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put it on PATH; gives the file into which it writes its process id."""
    script = folder / "ssh.py"
    script.write_text(SSH)
    fake_program(folder / "bin", "ssh", f'exec python3 -I -S "{script}" "$@"')
    monkeypatch.setenv("PATH", f"{folder / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("FAKE_SSH_PID", str(folder / "pid"))
    return folder / "pid"
