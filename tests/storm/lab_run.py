"""What a run does with a board of a lab, without its tests: ``python -m tests.storm.lab_run``.

Waits for a place, acquires it, lets its board prove its model, talks to it for some seconds, and
gives it back. Prints when it had the place, and how it ended, as JSON lines.
"""

from __future__ import annotations

import json
import sys
import time
from contextlib import suppress
from typing import Any

from pytest_autodeploy.base.errors import BoardError
from pytest_autodeploy.board.attached import AttachedBoard
from pytest_autodeploy.board.labgrid.board import LeasedBoard
from pytest_autodeploy.board.labgrid.lease import Held, Lease
from pytest_autodeploy.catalog.boards import board_spec
from pytest_autodeploy.catalog.places import parse_place
from pytest_autodeploy.image.image import Image
from pytest_autodeploy.model.load import load_model
from pytest_autodeploy.run.termination import interrupt_on_sigterm
from tests.helpers.support import DIGITS

CALL_S = 3.0


def main(wanted: str, client: str, seconds: float, wait_s: float) -> None:
    """Be a run."""
    interrupt_on_sigterm()
    board_id, spec = f"labgrid:{wanted}", board_spec("apollo4p_evb")
    lease = Lease(board_id, spec.name, parse_place(wanted), program=client, wait_s=wait_s)

    def reach(_held: Held, url: str) -> AttachedBoard:
        return AttachedBoard(board_id, spec, url, timeout_s=CALL_S, lock_timeout_s=1.0)

    board = LeasedBoard(board_id, spec, lease, reach)
    began = time.monotonic()
    try:
        held = lease.hold()
        _say(place=held.place.name, waited=time.monotonic() - began, at=time.monotonic())
        until = time.monotonic() + seconds
        board.load(Image(load_model(DIGITS)))
        while time.monotonic() < until:
            board.client.identify()
            time.sleep(0.1)
        _say(end="done")
    except BoardError as error:
        _say(end="error", kind=type(error).__name__, text=error.what)
    except KeyboardInterrupt:
        _say(end="interrupted")
    finally:
        if lease.held:
            _say(given=time.monotonic())
        with suppress(KeyboardInterrupt):  # what is told to end in the middle of that, has ended
            board.close()


def _say(**what: Any) -> None:
    sys.stdout.write(f"{json.dumps(what)}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]), float(sys.argv[4]))
