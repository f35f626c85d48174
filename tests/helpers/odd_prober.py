"""A child program that changes operators, and breaks at those that the environment names."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pytest_autodeploy.diagnosis.sensitivity.worker import Worker
from pytest_autodeploy.reference.worker import serve

if TYPE_CHECKING:
    from pytest_autodeploy.reference.messages import Header, Message

PROGRAM = "tests.helpers.odd_prober"


class OddWorker(Worker):
    """Crashes at operator ``ODD_CRASH``, and never answers about operator ``ODD_HANG``."""

    def answer(self, header: Header, payloads: list[bytes]) -> Iterator[Message]:
        position = str(header.get("position"))
        if position == os.environ.get("ODD_CRASH"):
            os.abort()
        if position == os.environ.get("ODD_HANG"):
            threading.Event().wait()
        yield from super().answer(header, payloads)


if __name__ == "__main__":
    serve(OddWorker().answer)
