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

from pytest_autodeploy.base import trace
from pytest_autodeploy.base.errors import AutodeployError, MissingExtra
from pytest_autodeploy.base.imports import leave_out_compression
from pytest_autodeploy.catalog.kinds import SIMULATED
from pytest_autodeploy.sim.arguments import make_parser
from pytest_autodeploy.sim.captured import STDERR, CapturedStderr
from pytest_autodeploy.sim.faults import Faults
from pytest_autodeploy.sim.flash import distribution_version
from pytest_autodeploy.sim.link import open_stream, slow_down
from pytest_autodeploy.sim.make import make_board
from pytest_autodeploy.sim.server import Server
from pytest_autodeploy.sim.tflm import import_runtime

NOT_READY, MISSING_EXTRA = 1, 3
"""Exit codes."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the board until its standard input ends, or until a signal. Returns an exit code."""
    options = make_parser().parse_args(arguments)
    trace.join(f"simulated board {options.board}")
    options.serve = options.serve or sys.stdin.isatty()
    if importlib.util.find_spec("tflite_micro") is None:
        return _not_ready(options, MissingExtra("the simulated board", "sim"), MISSING_EXTRA)
    _forbid_core_dumps()
    leave_out_compression()
    terminal = os.dup(STDERR)
    stderr = CapturedStderr(options.log)
    try:
        faults = Faults(options.fault)
        if options.serve:  # for a person; a host is told when it wants a model to run
            import_runtime()
        validator = make_board(options, stderr, faults)
        stream = open_stream(options.tcp)
    except (AutodeployError, OSError) as error:
        os.dup2(terminal, STDERR)
        return _not_ready(options, error, NOT_READY)
    finally:
        os.close(terminal)
    link = slow_down(stream, options.link_bytes_per_s, options.link_latency_ms)
    server = Server(validator, link, faults)
    try:
        _announce(options, stream.url)
        if not options.serve:
            _start(server.control, sys.stdin.buffer, _say)
        _start(_warm_up)
        server.serve()
    except KeyboardInterrupt:
        return 0


def _forbid_core_dumps() -> None:
    """TFLM crashes on some damaged models, which is foreseen: nothing to keep a dump of."""
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _start(target: Any, *arguments: Any) -> None:
    threading.Thread(target=target, args=arguments, daemon=True).start()


def _warm_up() -> None:
    """Import what the first calls need while the host still sends the model."""
    with trace.span("import TFLM"):
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
