"""Whole runs of pytest over a bad link, and on disks that are full: green only what was judged."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.helpers.scarce import WORDS_OF_OURS, run
from tests.helpers.simulated_board import simulated_board
from tests.helpers.support import DIGITS
from tests.storm.links import BadLink
from tests.storm.tally import Tally

COMMAND = (sys.executable, "-m", "pytest", "autodeploy", f"--tflite={DIGITS.name}", "-q")
PATIENCE_S = 300.0
SHARES = (0.002, 0.01, 0.05)
"""Of the pieces of the stream so many go wrong: runs that pass, and runs that do not."""

LARGEST_FILE_BYTES = 400_000
"""More than any file of such a run has."""


def over_bad_links(folder: Path, count: int, seed: int) -> Tally:
    """``count`` runs of an honest board: a wrong output is the link's, and told as the board's."""
    tally, began = Tally("runs over bad links"), time.monotonic()
    shutil.copy(DIGITS, folder)
    with simulated_board(folder, "--tcp", "127.0.0.1:0") as board:
        board.flash(DIGITS.read_bytes())
        board.client.close()
        for number in range(count):
            link = BadLink(str(board.ready["port"]), seed + number, SHARES[number % len(SHARES)])
            link.on = True
            _run(
                tally,
                folder,
                f"seed {seed + number}",
                lambda port=link.url: run(  # type: ignore[misc]
                    (*COMMAND, f"--evb-port={port}", "--evb-timeout=5"),
                    folder,
                    timeout_s=PATIENCE_S,
                ),
            )
            tally.injected += link.count
            link.close()
    tally.seconds = time.monotonic() - began
    return tally


def on_full_disks(folder: Path, count: int, seed: int) -> Tally:
    """``count`` runs whose files may be of so many bytes at most."""
    tally, began = Tally("runs on full disks"), time.monotonic()
    shutil.copy(DIGITS, folder)
    for number in range(count):
        limit = round(LARGEST_FILE_BYTES ** random.Random(f"{seed}/{number}").random())
        tally.injected += 1
        _run(
            tally,
            folder,
            f"files of {limit} bytes",
            lambda limit=limit: run(  # type: ignore[misc]
                COMMAND, folder, file_bytes=limit, timeout_s=PATIENCE_S
            ),
        )
    tally.seconds = time.monotonic() - began
    return tally


def _run(
    tally: Tally, folder: Path, case: str, start: Callable[[], subprocess.CompletedProcess[str]]
) -> None:
    results = folder / "autodeploy-results"
    shutil.rmtree(results, ignore_errors=True)
    try:
        done = start()
    except subprocess.TimeoutExpired:
        tally.hangs += 1
        tally.case(f"{case}: no end after {PATIENCE_S:g} s")
        return
    text = done.stdout + done.stderr
    if any(words in text for words in WORDS_OF_OURS):
        tally.foreign += 1
        tally.case(f"{case}: {text[-2000:]}")
    if "wrong output" in text:
        tally.wrong += 1
        tally.case(f"{case}: the board is blamed: {text[-2000:]}")
    if done.returncode == 0:
        tally.recovered += 1
        if not all(map(_whole, [*results.glob("**/result.json")] or [results])):
            tally.wrong += 1
            tally.case(f"{case}: it passed, and its results are not whole")


def _whole(path: Path) -> bool:
    try:
        return bool(json.loads(path.read_bytes()))
    except (OSError, ValueError):
        return False
