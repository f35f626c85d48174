"""Whether the board is reached, is the one that was named, and its link carries what is sent."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING

from pytest_autodeploy.base.units import si
from pytest_autodeploy.run.commission.own_models import DENSE, ECHO
from pytest_autodeploy.run.commission.rig import Rig
from pytest_autodeploy.run.commission.rows import Check, Finding, NotApplicable

if TYPE_CHECKING:
    from pytest_autodeploy.session.model_session import ModelSession

LEAST_BYTES_PER_S = 8_000
"""A UART of 115,200 baud carries 11,520 bytes a second, less heads and turns."""

MOST_CALL_S = 0.05
"""A small call over USB takes a millisecond, over a UART with a slow adapter some sixteen."""

LATE_CALL_S = 1.0


def _access(rig: Rig) -> Finding:
    """The ports and probes of EVBs, and the right to use them, before anything else."""
    from pytest_autodeploy.board.order import build_options
    from pytest_autodeploy.catalog.kinds import kind_of
    from pytest_autodeploy.doctor.boards import probes, serial_ports

    if not kind_of(rig.board_id).is_hardware:
        raise NotApplicable("this run starts the board: it has no port of its own")
    if rig.settings.evb_port is not None:
        raise NotApplicable(f"attached to {rig.settings.evb_port}")
    options = build_options(rig.settings, None)
    checks = [*probes(options), *serial_ports(options)]
    bad = [f"{check.name}: {check.found}" for check in checks if check.state != "ok"]
    return Finding("; ".join(bad) or ", ".join(check.found for check in checks), not bad)


def _identify(rig: Rig) -> Finding:
    session = rig.session()
    identity = session.identity
    if session.report.ticks and session.source != "emulated":
        rig.ticks.append(session.report.ticks)
    good = identity.board == session.board.spec.name and identity.core == session.board.spec.core
    return Finding(f"{identity.board}, {identity.core}, build {identity.build_id[:60]}", good)


def _echoed(session: ModelSession, count: int) -> tuple[int, float]:
    """So many inferences of the echo: how many bytes differ, and the seconds they took."""
    import numpy as np

    random = np.random.default_rng(count)
    (tensor,) = session.model.inputs
    session.set_up()  # with another model a board may have another client
    client, wrong = session.board.client, 0
    began = time.monotonic()
    with session.calls():
        for _ in range(count):
            sent = random.integers(-128, 128, tensor.shape, np.int8).tobytes()
            (got,) = client.infer([sent], [len(sent)]).outputs
            wrong += sum(a != b for a, b in zip(sent, got, strict=True)) if sent != got else 0
    return wrong, time.monotonic() - began


def _integrity(rig: Rig) -> Finding:
    session = rig.session(ECHO)
    size = session.model.inputs[0].bytes
    count = max(1, rig.effort.link_bytes // size)
    wrong, seconds = _echoed(session, count)
    rig.echo_bytes_per_s = 2 * count * size / seconds
    return Finding(f"{wrong} of {count * size:,} bytes came back wrong", wrong == 0)


def _throughput(rig: Rig) -> Finding:
    if rig.echo_bytes_per_s is None:
        raise NotApplicable("nothing came back whole to be timed")
    rate = rig.echo_bytes_per_s
    return Finding(f"{rate / 1e3:,.1f} kB/s, inferences included", rate >= LEAST_BYTES_PER_S)


def _small_calls(rig: Rig) -> Finding:
    session = rig.session(DENSE)
    session.ensure()
    took = []
    with session.calls():
        first = session.board.client.describe_input(0)
        same = True
        for _ in range(rig.effort.calls):
            began = time.monotonic()
            same &= session.board.client.describe_input(0) == first
            took.append(time.monotonic() - began)
    median, most = statistics.median(took), max(took)
    text = f"median {si(1e6 * median, 'us')}, longest {si(1e6 * most, 'us')} of {len(took)}"
    if not same:
        return Finding(f"{text}; answers differ", False)
    return Finding(text, median <= MOST_CALL_S and most <= LATE_CALL_S)


CHECKS = (
    Check(
        "ports and permissions",
        "a probe and a port that this user may use",
        "`autodeploy doctor evb` has the commands; plug the board in again after them",
        _access,
    ),
    Check(
        "identify",
        "the board and core of the catalog",
        "name the board that is connected (--evb NAME, --evb-probe SERIAL)",
        _identify,
    ),
    Check(
        "link: integrity",
        "every byte that goes in comes back",
        "try another cable and another USB port, without a hub; for a UART a lower rate",
        _integrity,
    ),
    Check(
        "link: throughput",
        f"at least {LEAST_BYTES_PER_S / 1e3:g} kB/s",
        "use the board's own USB port; a hub or another program on the port slows it down",
        _throughput,
    ),
    Check(
        "link: small calls",
        f"median at most {1e3 * MOST_CALL_S:g} ms, none over {LATE_CALL_S:g} s",
        "a USB serial adapter may wait: set its latency timer to 1 ms",
        _small_calls,
    ),
)
