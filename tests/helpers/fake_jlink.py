"""Stands in for J-Link Commander: ``JLinkExe`` on PATH is this file with another first line.

The folder in FAKE_JLINK holds ``jlink.json`` (its mode, the probes that are connected, the port of
the bench) and collects ``calls.jsonl``. A good flash or reset reaches the bench over TCP.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import time
from pathlib import Path
from typing import Any

BANNER = "SEGGER J-Link Commander V7.94e\nJ-Link Command File read successfully."
CONNECTED = """Connecting to J-Link via USB...O.K.
VTref=3.300V
Connecting to target via SWD
Cortex-M4 identified."""
NO_TARGET = """Connecting to J-Link via USB...O.K.
VTref={vtref}V
Connecting to target via SWD
Cannot connect to target."""
PROGRAMMED = """Comparing flash   [100%] Done.
Programming flash [100%] Done.
J-Link: Flash download: Bank 0 @ 0x00018000: 1 range affected (65536 bytes)
J-Link: Flash download: Total: 0.312s (Compare: 0.020s, Program: 0.250s, Verify: 0.030s)
O.K."""
RESET = "Reset delay: 0 ms\nReset: Halt core after reset via DEMCR.VC_CORERESET."

LIES = " with exit code 0"

FAILURES = {
    "cannot connect": [NO_TARGET.format(vtref="3.300")],
    "no power": [NO_TARGET.format(vtref="0.000")],
    "no probe": ["Connecting to J-Link via USB...FAILED: Cannot connect to J-Link."],
    "unknown device": [
        'The selected device "CHIP" is unknown to this version of the J-Link software.'
    ],
    "verify fails": [
        CONNECTED,
        "Downloading file [image.bin]...",
        "****** Error: Verification failed @ address 0x00018000",
    ],
    "no file": [CONNECTED, "Downloading file [image.bin]...", "Failed to open file."],
    "program fails": [
        CONNECTED,
        "Downloading file [image.bin]...",
        "Error while programming flash: Programming failed.",
    ],
}


def main() -> int:
    folder = Path(os.environ["FAKE_JLINK"])
    state = json.loads((folder / "jlink.json").read_text())
    script = Path(sys.argv[sys.argv.index("-CommandFile") + 1]).read_text()
    with (folder / "calls.jsonl").open("a") as calls:
        calls.write(json.dumps({"arguments": sys.argv[1:], "script": script}) + "\n")
    if "ShowEmuList" in script:
        for number, (serial, name) in enumerate(state["probes"]):
            link = f"J-Link[{number}]: Connection: USB"
            say(f"{link}, Serial number: {serial}, ProductName: {name}")
        return 0
    return 0 if state["mode"] == "says nothing" else act(state["mode"], script, state["bench"])


def act(mode: str, script: str, bench: int) -> int:
    say(BANNER)
    if mode == "hangs":
        os.fork()  # the child outlives a kill of its parent alone
        time.sleep(600)
    if mode == "crashes":
        os.kill(os.getpid(), signal.SIGSEGV)
    failure = FAILURES.get(mode.removesuffix(LIES))
    if failure:
        say(*failure)
        return 0 if mode.endswith(LIES) else 1
    say(CONNECTED)
    if mode == "connects only":
        return 0
    if "LoadFile" in script:
        say("J-Link>LoadFile image.bin, 0x18000", "Downloading file [image.bin]...")
        if mode != "does nothing":
            tell(bench, {"op": "flash", "image": str(Path("image.bin").absolute())})
        say(PROGRAMMED)
    elif mode != "does nothing":
        tell(bench, {"op": "reset"})
    say(RESET, "Script processing completed.")
    return 0


def say(*lines: str) -> None:
    sys.stdout.write("\n".join([*lines, ""]))
    sys.stdout.flush()


def tell(bench: int, message: dict[str, Any]) -> None:
    with socket.create_connection(("127.0.0.1", bench), timeout=20) as connection:
        connection.sendall(json.dumps(message).encode() + b"\n")
        connection.recv(16)


if __name__ == "__main__":
    sys.exit(main())
