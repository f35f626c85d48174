"""The command line of a simulated board."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from pytest_autodeploy.catalog.boards import board_names
from pytest_autodeploy.catalog.fit import ARENA_MEMORIES, MODEL_MEMORIES
from pytest_autodeploy.catalog.reserve import SYNTAX as SIZES
from pytest_autodeploy.catalog.reserve import parse_reserves
from pytest_autodeploy.sim.faults import SYNTAX, Fault, parse_fault
from pytest_autodeploy.sim.noise import SYNTAX as NOISE_SYNTAX
from pytest_autodeploy.sim.noise import Noise, parse_noise
from pytest_autodeploy.sim.operator_fault import OperatorFault
from pytest_autodeploy.sim.power import DOUBTFUL
from pytest_autodeploy.sim.power import FAULTS as POWER_FAULTS


def make_parser(
    parser_of: type[argparse.ArgumentParser] = argparse.ArgumentParser, add_help: bool = True
) -> argparse.ArgumentParser:
    """The parser of the command line."""
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
    add(
        "--reserve",
        type=parse_reserves,
        default=(),
        help="of its memories: " + SIZES.replace("%", "%%"),
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
        choices=(*POWER_FAULTS, *DOUBTFUL),
        action="append",
        default=[],
        help="for testing: what is wrong between the board and its power meter",
    )
    for flag, what in (("--timing-noise", "times"), ("--power-noise", "powers of windows")):
        help_text = f"for testing; noise in the {what} that are reported, {NOISE_SYNTAX}"
        add(flag, type=_noise, default=Noise(), metavar="NOISE", help=help_text)
    numbers = (
        ("--timing-seed", "N", int, "seed of both kinds of noise"),
        ("--slowdown", "PERCENT", float, "how much longer everything takes"),
    )
    for flag, metavar, kind, help_text in numbers:
        add(flag, type=kind, default=0, metavar=metavar, help=f"for testing; {help_text}")


class _Checker(argparse.ArgumentParser):
    """Raises ValueError instead of ending the process."""

    def error(self, message: str) -> NoReturn:
        raise ValueError(message)


def refusal(arguments: Sequence[str]) -> str | None:
    """Why a board would not start with these arguments, beside those it gets anyhow, or None."""
    try:
        make_parser(_Checker, add_help=False).parse_args(["--board", board_names()[0], *arguments])
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


def _noise(text: str) -> Noise:
    try:
        return parse_noise(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
