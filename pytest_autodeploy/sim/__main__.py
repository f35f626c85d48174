"""``python -m pytest_autodeploy.sim``: a simulated board behind a pseudo-terminal or a TCP port."""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from shlex import join
from typing import Any, NoReturn

from pytest_autodeploy.base.errors import AutodeployError, MissingExtra
from pytest_autodeploy.catalog.boards import board_names, board_spec
from pytest_autodeploy.catalog.fit import ARENA_MEMORIES, MODEL_MEMORIES
from pytest_autodeploy.catalog.kinds import SIMULATED
from pytest_autodeploy.sim.captured import STDERR, CapturedStderr
from pytest_autodeploy.sim.faults import SYNTAX, Fault, Faults, parse_fault
from pytest_autodeploy.sim.flash import Memories, distribution_version
from pytest_autodeploy.sim.noise import TimingNoise
from pytest_autodeploy.sim.operator_fault import OperatorFault
from pytest_autodeploy.sim.power import FAULTS as POWER_FAULTS
from pytest_autodeploy.sim.power import PowerRig
from pytest_autodeploy.sim.server import Server
from pytest_autodeploy.sim.stream import PtyStream, TcpStream
from pytest_autodeploy.sim.throttle import ByteStream, Throttle
from pytest_autodeploy.sim.validator import SimulatedValidator

NOT_READY, MISSING_EXTRA = 1, 3
"""Exit codes."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the board until its standard input ends, or until a signal. Returns an exit code."""
    options = _parser().parse_args(arguments)
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


def _parser(
    parser_of: type[argparse.ArgumentParser] = argparse.ArgumentParser, add_help: bool = True
) -> argparse.ArgumentParser:
    parser = parser_of(
        add_help=add_help,
        prog="python -m pytest_autodeploy.sim",
        description="A simulated board: TFLM on this PC behind the RPC of the real boards; its "
        "times are modelled. Standard input takes JSON lines, such as "
        '{"op": "flash", "model": PATH, "arena_bytes": 0}; its end is the end of the board.',
    )
    add = parser.add_argument
    add("--board", required=True, metavar="NAME", help=f"one of {', '.join(board_names())}")
    add("--model", type=Path, metavar="FILE", help="the .tflite file that is flashed at the start")
    for what, known in (("model", MODEL_MEMORIES), ("arena", ARENA_MEMORIES)):
        add(
            f"--{what}-memory",
            choices=known,
            help=f"memory of the {what}; the first that has room",
        )
    add("--arena-kb", type=int, default=0, metavar="N", help="its arena; 0: the largest possible")
    add(
        "--tcp",
        type=_address,
        metavar="HOST:PORT",
        help="serve on TCP, port 0 for any that is free; without a pseudo-terminal 127.0.0.1:0",
    )
    add("--link-bytes-per-s", type=float, default=0, metavar="N", help="speed of the link")
    add("--link-latency-ms", type=float, default=0, metavar="N", help="latency of each direction")
    add("--log", type=Path, metavar="FILE", help="where TFLM's words go")
    add("--serve", action="store_true", help="ignore standard input, and print words, not JSON")
    add("--json", action="store_true", help="with --serve: print JSON all the same")
    _add_faults(parser)
    return parser


def _add_faults(parser: argparse.ArgumentParser) -> None:
    """The arguments for tests: what breaks, and times that vary."""
    add = parser.add_argument
    add(
        "--fault",
        type=_fault,
        action="append",
        default=[],
        metavar="FAULT",
        help=f"for testing; {SYNTAX}",
    )
    add(
        "--power-fault",
        choices=POWER_FAULTS,
        action="append",
        default=[],
        help="for testing: what is wrong between the board and its power meter",
    )
    noise = (
        ("--timing-noise", "PERCENT", float, "standard deviation of the times that are reported"),
        ("--timing-seed", "N", int, "seed of that noise"),
        ("--slowdown", "PERCENT", float, "how much longer everything takes"),
    )
    for flag, metavar, kind, help_text in noise:
        add(flag, type=kind, default=0, metavar=metavar, help=f"for testing; {help_text}")


class _Checker(argparse.ArgumentParser):
    """Raises ValueError instead of ending the process."""

    def error(self, message: str) -> NoReturn:
        raise ValueError(message)


def refusal(arguments: Sequence[str]) -> str | None:
    """Why a board would not start with these arguments, beside those it gets anyhow, or None."""
    try:
        _parser(_Checker, add_help=False).parse_args(["--board", board_names()[0], *arguments])
    except ValueError as error:
        return str(error)
    return None


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not port.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not HOST:PORT")
    return host or "127.0.0.1", int(port)


def _fault(text: str) -> Fault | OperatorFault:
    try:
        return parse_fault(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{error}; {SYNTAX}") from None


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
    attach = [*pytest, "--evb", f"{SIMULATED.prefix}{options.board}", "--evb-port", url]
    return [*lines, f"It runs {options.model.name}. In another terminal:", f"  {join(attach)}"]


def _not_ready(options: argparse.Namespace, error: Exception, code: int) -> int:
    if options.serve and not options.json:
        print(f"Error: {error}", file=sys.stderr)
    else:
        _say({"ready": False, "error": str(error)})
    return code


if __name__ == "__main__":
    sys.exit(main())
