"""Running Vela: always in a child process, with a deadline and a folder of its own."""

from __future__ import annotations

import importlib.metadata
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_autodeploy.base.errors import MissingExtra
from pytest_autodeploy.base.files import write_bytes
from pytest_autodeploy.base.process import Finished, own_environment, run_tool
from pytest_autodeploy.base.progress import show_task
from pytest_autodeploy.base.scratch import Scratch
from pytest_autodeploy.npu import child
from pytest_autodeploy.npu.config_file import NpuSystem
from pytest_autodeploy.npu.debug_db import debug_tables
from pytest_autodeploy.npu.errors import NpuEstimateFailed

PACKAGE = "ethos-u-vela"
LONGEST_REASON = 300
MOST_MEMORY_BYTES = 4 << 30
"""A damaged model can make Vela take all memory of the PC."""

_STEM = "model"
# The first makes Vela write figures per layer; only the debug database tells which operator of the
# file a layer comes from: names in the CSV repeat (34 of 58 in one model, Vela 5.2).
_ALWAYS = ("--verbose-performance", "--enable-debug-db")
_DAMAGED = "the model may be damaged, or hold what Vela cannot handle"


@dataclass(frozen=True)
class VelaOutput:
    """What Vela wrote: two CSVs, two tables of its debug database, and its standard output."""

    summary: str
    per_layer: str
    perf: str
    source: str
    log: str


def vela_version() -> str:
    """The version of the installed Vela. Raises MissingExtra."""
    try:
        return importlib.metadata.version(PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        raise MissingExtra("Ethos-U estimation", "vela") from None


def vela_arguments(system: NpuSystem) -> tuple[str, ...]:
    """The arguments that decide what Vela estimates, without paths."""
    return (
        *("--accelerator-config", system.accelerator),
        *("--system-config", system.system_config),
        *("--memory-mode", system.memory_mode),
        *_ALWAYS,
        *system.arguments,
    )


def run_vela(
    content: bytes,
    system: NpuSystem,
    *,
    name: str,
    timeout_s: float,
    compiled: Path | None = None,
) -> VelaOutput:
    """Let Vela compile the model of this ``content`` and read what it wrote.

    ``name`` of the model stands in errors; ``compiled`` is where the model that Vela made is kept.
    Raises NpuEstimateFailed.
    """
    what = f"{name} on {system.accelerator}"
    with Scratch("vela") as made:
        folder = made.path.resolve()  # Vela takes some relative paths for its own
        model, config, output = folder / f"{_STEM}.tflite", folder / "config.ini", folder / "out"
        model.write_bytes(content)
        config.write_bytes(system.content)
        command = [sys.executable, "-P", "-W", "ignore", child.__file__, str(MOST_MEMORY_BYTES)]
        command += [
            str(model),
            *vela_arguments(system),
            "--config",
            str(config),
            "--output-dir",
            str(output),
        ]
        done = _run(command, folder, what, timeout_s)
        if done.code != 0:
            raise _failed(what, done)
        if compiled is not None:
            write_bytes(compiled, (output / f"{_STEM}_vela.tflite").read_bytes())
        return _read(output, done.output, what)


def _run(command: Sequence[str], folder: Path, what: str, timeout_s: float) -> Finished:
    """Run the child to its end; what it started ends with it, also on Ctrl-C."""
    # Vela prints names of tensors, which the encoding of the locale may lack.
    utf8 = own_environment(PYTHONUTF8="1")
    with show_task(f"estimating {what}"):
        done = run_tool(command, timeout_s=timeout_s, folder=folder, environment=utf8, apart=True)
    if done.code is None:
        raise NpuEstimateFailed(
            f"{what}: Vela did not finish",
            kind="timeout",
            seconds=timeout_s,
            hint="allow it more time; a damaged model can keep it busy for ever",
        )
    return done


def _failed(what: str, done: Finished) -> NpuEstimateFailed:
    said = last_line(done.errors) or last_line(done.output)
    # Vela 5.2 dies of SIGSEGV, without a word, on truncated and many otherwise damaged files.
    if done.signal:
        outside = "it was ended from outside; is the memory of this PC full?"
        hint = _DAMAGED if done.crashed else outside
        return NpuEstimateFailed(f"{what}: Vela {done.how}", kind="crashed", hint=hint)
    return NpuEstimateFailed(
        f"{what}: Vela refused it: {said or f'exit code {done.code}'}",
        kind="rejected",
        hint=f"{_DAMAGED}; Vela is for models quantised to int8 or int16",
    )


def last_line(text: str) -> str:
    """The last line that says something, such as the exception of a traceback."""
    lines = [line.strip() for line in text.splitlines()]
    last = next((line for line in reversed(lines) if line.strip("#^~- ")), "")
    plain = re.sub(r"^(?:\w+\.)+(?=\w+: )", "", last)  # no module in front of an exception
    return " ".join(plain.split())[:LONGEST_REASON]


def _read(output: Path, log: str, what: str) -> VelaOutput:
    tables = debug_tables(_text(output / f"{_STEM}_debug.xml"))
    # The name ends with the system configuration.
    summary = next(iter(output.glob(f"{_STEM}_summary_*.csv")), None)
    if summary is None:
        raise NpuEstimateFailed(
            f"{what}: Vela ended well but wrote no summary: {last_line(log)}",
            kind="unreadable",
            hint=f"this version of {PACKAGE} may be unknown; 5.0 to 5.2 are known",
        )
    return VelaOutput(
        summary=_text(summary),
        per_layer=_text(output / f"{_STEM}_per-layer.csv"),
        perf=tables.get("perf", ""),
        source=tables.get("source", ""),
        log=log,
    )


def _text(path: Path) -> str:
    """The text of a file, empty when there is none; line ends as they are in it."""
    try:
        return path.read_bytes().decode("utf-8-sig", errors="replace")
    except FileNotFoundError:
        return ""
