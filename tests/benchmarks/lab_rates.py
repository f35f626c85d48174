"""How many commands a coordinator of labgrid answers: run by labgrid's own Python.

    python tests/benchmarks/lab_rates.py ADDRESS COORDINATOR_PID COUNT

Prints a JSON line for each: a client's start (with all places and resources), a place acquired and
released, a reservation made and cancelled, one polled; by the second, and the CPU time of each.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import labgrid.remote.generated.labgrid_coordinator_pb2 as pb2
from labgrid.remote.client import start_session


def cpu_s(pid: int) -> float:
    """CPU seconds of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main(address: str, pid: int, count: int) -> None:
    """Measure and print."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)

    def report(what: str, number: int, work: Callable[[], Any]) -> None:
        began, before = time.monotonic(), cpu_s(pid)
        for _ in range(number):
            work()
        seconds, used = time.monotonic() - began, cpu_s(pid) - before
        line = {"what": what, "per_s": number / seconds, "coordinator_cpu_ms": 1e3 * used / number}
        sys.stdout.write(f"{json.dumps(line)}\n")

    def finish(session: Any) -> None:
        loop.run_until_complete(session.stop())
        loop.run_until_complete(session.close())

    report("client started", count // 4, lambda: finish(start_session(address, loop=loop)))
    session = start_session(address, loop=loop)
    stub = session.stub

    def call(*calls: Callable[[], Awaitable[Any]]) -> list[Any]:
        return [loop.run_until_complete(each()) for each in calls]

    place = sorted(session.places)[0]
    acquire = pb2.AcquirePlaceRequest(placename=place)
    release = pb2.ReleasePlaceRequest(placename=place)
    report(
        "place acquired and released",
        count,
        lambda: call(lambda: stub.AcquirePlace(acquire), lambda: stub.ReleasePlace(release)),
    )
    tags = pb2.Reservation.Filter(filter={"board": "apollo4p_evb"})
    wanted = pb2.CreateReservationRequest(filters={"main": tags}, prio=0.0)

    def reserve() -> str:
        (made,) = call(lambda: stub.CreateReservation(wanted))
        return str(made.reservation.token)

    def cancel(token: str) -> None:
        call(lambda: stub.CancelReservation(pb2.CancelReservationRequest(token=token)))

    report("reservation made and cancelled", count, lambda: cancel(reserve()))
    poll = pb2.PollReservationRequest(token=reserve())
    report("reservation polled", 4 * count, lambda: call(lambda: stub.PollReservation(poll)))
    cancel(poll.token)
    finish(session)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
