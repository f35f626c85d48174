"""Programs and trees that firmware is built and run with."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from pytest_autodeploy.base.process import run_tool
from pytest_autodeploy.board.emulated import QEMU
from pytest_autodeploy.catalog.boards import CORES, board_names
from pytest_autodeploy.catalog.kinds import EMULATED
from pytest_autodeploy.doctor.check import Check
from pytest_autodeploy.doctor.fixes import install, set_variable
from pytest_autodeploy.image.errors import BuildError, ToolMissing, TreeError
from pytest_autodeploy.image.firmware import BuildOptions
from pytest_autodeploy.image.licence import ambiq_only
from pytest_autodeploy.image.toolchain import GCC, VARIABLE, find_toolchain
from pytest_autodeploy.image.trees import (
    RUNTIMES,
    SDK_VARIABLE,
    TFLM_VARIABLE,
    TflmTree,
    find_sdk,
    find_tflm,
)

TIMEOUT_S = 10.0
OLDEST_CMAKE = (3, 20)
"""As firmware/CMakeLists.txt has it."""

CLONE = "git clone --depth 1 https://github.com/AmbiqAI/neuralSPOT"
APACHE_RUNTIME = RUNTIMES / "helia_rt_v1_3_0"
"""The runtime of neuralSPOT that may run on any CPU."""

LABGRID = "labgrid-client"
LABGRID_FIX = "python -m venv lab; lab/bin/pip install labgrid; put labgrid-client on PATH"
"""Not beside pyserial, which labgrid's fork of it replaces."""

_RUN_BY_HAND = "run it by hand to see why: {}"
_LIBRARIES = ("libc.a", "libstdc++.a")


def compiler(options: BuildOptions) -> Iterable[Check]:
    """The compiler for Arm with its C and C++ libraries."""
    name = "Arm compiler"
    try:
        found = find_toolchain(options.toolchain)
    except (ToolMissing, BuildError) as error:
        asked = options.toolchain or os.environ.get(VARIABLE)
        there = asked or shutil.which(GCC)
        yield Check(name, "trouble" if there else "missing", _text(error), install(GCC))
        return
    lacks = [] if found.kind == "armclang" else _lacking(found.compiler)
    if lacks:
        what = f"{found.compiler} has no {' and no '.join(lacks)}"
        yield Check(name, "trouble", what, install(GCC))
    else:
        yield Check(name, "ok", f"{found.release} ({found.compiler})")


def _lacking(gcc: Path) -> list[str]:
    """The libraries that a compiler does not find: it repeats their bare names."""
    answers = [
        run_tool([str(gcc), f"-print-file-name={name}"], timeout_s=TIMEOUT_S) for name in _LIBRARIES
    ]
    return [
        name for name, done in zip(_LIBRARIES, answers, strict=True) if done.output.strip() == name
    ]


def cmake(_: BuildOptions) -> Iterable[Check]:
    """CMake, which builds for emulated boards."""
    check, output = ask("CMake", ["cmake", "--version"], r"cmake version (\d+)\.(\d+)\S*")
    match = re.search(r"(\d+)\.(\d+)", output)
    if check.state == "ok" and match and tuple(map(int, match.groups())) < OLDEST_CMAKE:
        wanted = ".".join(map(str, OLDEST_CMAKE))
        check = Check("CMake", "trouble", f"{check.found} is older than {wanted}", install("cmake"))
    yield check


def ninja_or_make(_: BuildOptions) -> Iterable[Check]:
    """What runs the compiler for CMake: Ninja where there is one, else make."""
    if shutil.which("ninja") or not shutil.which("make"):
        check, _output = ask("ninja or make", ["ninja", "--version"], r"^\d+\.\d+\S*")
        yield check
    else:
        yield from make(_)


def make(_: BuildOptions) -> Iterable[Check]:
    """make, which builds for EVBs."""
    yield ask("make", ["make", "--version"], r"GNU Make \S+")[0]


def qemu(_: BuildOptions) -> Iterable[Check]:
    """QEMU with the machines of the catalog."""
    if os.name != "posix":
        yield Check("QEMU", "trouble", "emulated boards need Linux or macOS", "use WSL")
        return
    check, _output = ask("QEMU", [QEMU, "--version"], r"QEMU emulator version \S+")
    if check.state == "ok":
        check = _with_machines(check)
    yield check


def _with_machines(qemu: Check) -> Check:
    listed, output = ask("QEMU", [QEMU, "-machine", "help"], r"^Supported machines")
    if listed.state != "ok":
        return listed
    machines = board_names(EMULATED.part)
    lacks = [name for name in machines if not re.search(rf"^{name}\b", output, re.M)]
    if lacks:
        what = f"{qemu.found} has no machine {' and no '.join(lacks)}"
        return Check("QEMU", "trouble", what, "install QEMU 6.0 or newer")
    return Check("QEMU", "ok", f"{qemu.found}: {', '.join(machines)}")


def tflm_tree(options: BuildOptions) -> Iterable[Check]:
    """The TFLM tree that emulated boards are built with: its cores, and whether it may run here."""
    try:
        tree = find_tflm(options.tflm_root)
    except TreeError as error:
        named = options.tflm_root or os.environ.get(TFLM_VARIABLE)
        yield Check("TFLM tree", "trouble" if named else "missing", error.what, _get_tflm(options))
        return
    cores = [core for core in CORES if _has_library(tree, core)]
    reason = ambiq_only(tree.root)
    if reason:
        yield Check("TFLM tree", "trouble", f"{tree.root}: {reason}", _get_tflm(options))
    elif not cores:
        what = f"{tree.root} has no static library for {' or '.join(CORES)}"
        yield Check("TFLM tree", "trouble", what, _get_tflm(options))
    else:
        what = f"{tree.version} for {', '.join(cores)}, may run on any CPU ({tree.root})"
        yield Check("TFLM tree", "ok", what)


def sdk(options: BuildOptions) -> Iterable[Check]:
    """neuralSPOT, which firmware for EVBs is built with."""
    try:
        found = find_sdk(options.sdk)
        runtime = found.runtime(options.tflm_root)
    except TreeError as error:
        named = options.sdk or os.environ.get(SDK_VARIABLE)
        fix = (
            error.hint
            if named and error.hint
            else f"{CLONE}\n{set_variable(SDK_VARIABLE, _here())}"
        )
        yield Check("neuralSPOT", "trouble" if named else "missing", error.what, fix)
    else:
        yield Check("neuralSPOT", "ok", f"{found.root} with {runtime.version}")


def ask(name: str, command: Sequence[str], pattern: str) -> tuple[Check, str]:
    """Ask a program something; what matches the ``pattern`` is what was found. Its output, too."""
    program, *arguments = command
    found = shutil.which(program)
    if found is None:
        return Check(name, "missing", f"{program} is not on PATH", install(program)), ""
    by_hand = _RUN_BY_HAND.format(" ".join(command))
    try:
        done = run_tool([found, *arguments], timeout_s=TIMEOUT_S)
    except OSError as error:
        return Check(name, "trouble", f"{found} cannot be run: {error.strerror}", by_hand), ""
    if done.code is None:
        return Check(name, "trouble", f"{found} did not answer in {TIMEOUT_S:g} s", by_hand), ""
    match = re.search(pattern, done.output, re.MULTILINE)
    if done.code or match is None:
        what = f"{found} does not answer as it should: it {done.how}"
        return Check(name, "trouble", what, by_hand), ""
    return Check(name, "ok", f"{match[0]} ({found})"), done.output


def _has_library(tree: TflmTree, core: str) -> bool:
    try:
        tree.library(core)
    except TreeError:
        return False
    return True


def _get_tflm(options: BuildOptions) -> str:
    """The runtime of the neuralSPOT that is there, or of one that is to be fetched."""
    given = options.sdk or os.environ.get(SDK_VARIABLE)
    there = Path(given).resolve() / APACHE_RUNTIME if given else None
    if there and there.is_dir() and not ambiq_only(there):
        return set_variable(TFLM_VARIABLE, str(there))
    return f"{CLONE}\n{set_variable(TFLM_VARIABLE, f'{_here()}/{APACHE_RUNTIME.as_posix()}')}"


def _here() -> str:
    return "%CD%\\neuralSPOT" if os.name == "nt" else '"$PWD/neuralSPOT"'


def _text(error: BuildError) -> str:
    return error.what if error.seconds is None else f"{error.what} after {error.seconds:g} s"


def labgrid_client(_: BuildOptions) -> Iterable[Check]:
    """labgrid's own program, which is best in an environment of its own."""
    check, output = ask(LABGRID, [LABGRID, "--help"], "usage: ")
    if check.state == "ok" and "--coordinator" not in output:
        yield Check(LABGRID, "trouble", "older than labgrid 25.0", LABGRID_FIX)
    elif check.state == "missing":
        yield Check(LABGRID, "missing", check.found, LABGRID_FIX)
    else:
        yield check
