"""``python -m pytest_autodeploy.sim``: a simulated board behind a pseudo-terminal or a TCP port."""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import sys
import threading
from collections.abc import Sequence
from shlex import join
from typing import Any

from pytest_autodeploy.base.errors import AutodeployError, MissingExtra
from pytest_autodeploy.catalog.boards import board_spec
from pytest_autodeploy.catalog.kinds import SIMULATED
from pytest_autodeploy.sim.arguments import make_parser
from pytest_autodeploy.sim.captured import STDERR, CapturedStderr
from pytest_autodeploy.sim.faults import Faults
from pytest_autodeploy.sim.flash import Memories, distribution_version
from pytest_autodeploy.sim.noise import TimingNoise
from pytest_autodeploy.sim.power import PowerRig
from pytest_autodeploy.sim.server import Server
from pytest_autodeploy.sim.stream import PtyStream, TcpStream
from pytest_autodeploy.sim.throttle import ByteStream, Throttle
from pytest_autodeploy.sim.validator import SimulatedValidator

NOT_READY, MISSING_EXTRA = 1, 3
"""Exit codes."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the board until its standard input ends, or until a signal. Returns an exit code."""
    options = make_parser().parse_args(arguments)
    options.serve = options.serve or sys.stdin.isatty()
    if importlib.util.find_spec("tflite_micro") is None:
        return _not_ready(options, MissingExtra("the simulated board", "sim"), MISSING_EXTRA)
    _forbid_core_dumps()
    terminal = os.dup(STDERR)
    stderr = CapturedStderr(options.log)
    try:
        noise = TimingNoise(options.timing_noise, options.timing_seed, options.slowdown)
        power = PowerRig(options.power_fault)
        faults = Faults(options.fault)
        memories = Memories.of(options.model_memory, options.arena_memory)
        validator = SimulatedValidator(
            board_spec(options.board), stderr, noise, power, faults.of_operators, memories
        )
        if options.model:
            validator.flash(options.model, options.arena_kb * 1024)
        stream = _open(options.tcp)
    except (AutodeployError, OSError) as error:
        os.dup2(terminal, STDERR)
        return _not_ready(options, error, NOT_READY)
    finally:
        os.close(terminal)
    server = Server(validator, _slowed(stream, options), faults)
    try:
        _announce(options, stream.url)
        if not options.serve:
            _start(server.control, sys.stdin.buffer, _say)
        _start(_warm_up)
        server.serve()
    except KeyboardInterrupt:
        return 0


def _open(address: tuple[str, int] | None) -> PtyStream | TcpStream:
    if address is None and hasattr(os, "openpty"):
        return PtyStream()
    return TcpStream(*(address or ("127.0.0.1", 0)))


def _slowed(stream: ByteStream, options: argparse.Namespace) -> ByteStream:
    speed, latency = options.link_bytes_per_s, options.link_latency_ms
    if not speed and not latency:
        return stream
    return Throttle(stream, bytes_per_s=speed, latency_ms=latency)


def _forbid_core_dumps() -> None:
    """TFLM crashes on some damaged models, which is foreseen: nothing to keep a dump of."""
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _start(target: Any, *arguments: Any) -> None:
    threading.Thread(target=target, args=arguments, daemon=True).start()


def _warm_up() -> None:
    """Import what the first calls need while the host still sends the model."""
    distribution_version("tflite-micro")
    importlib.import_module("tflite_micro")


def _say(message: dict[str, Any]) -> None:
    print(json.dumps(message), flush=True)


def _announce(options: argparse.Namespace, url: str) -> None:
    if options.serve and not options.json:
        print("\n".join(_introduction(options, url)), flush=True)
    else:
        _say({"ready": True, "port": url, "pid": os.getpid()})


def _introduction(options: argparse.Namespace, url: str) -> list[str]:
    """What a person wants to know who has started a board to play with."""
    lines = [f"{options.board} (simulated) on {url}; Ctrl-C ends it."]
    if options.model is None:
        return [*lines, "It runs no model: start it with one to attach pytest to it."]
    pytest = ["pytest", "autodeploy", f"--tflite={options.model}"]
    attach = [*pytest, "--evb", f"{SIMULATED.prefix}{options.board}", f"--evb-port={url}"]
    return [*lines, f"It runs {options.model.name}. In another terminal:", f"  {join(attach)}"]


def _not_ready(options: argparse.Namespace, error: Exception, code: int) -> int:
    if options.serve and not options.json:
        print(f"Error: {error}", file=sys.stderr)
    else:
        _say({"ready": False, "error": str(error)})
    return code


if __name__ == "__main__":
    sys.exit(main())
