"""Whether installed packages can be imported, found out in a process that may crash or hang."""

from __future__ import annotations

import functools
import json
import os
import sys
from collections.abc import Mapping, Sequence

from pytest_autodeploy.base.process import own_environment, run_tool

TIMEOUT_S = 120.0
"""TensorFlow takes many seconds on a PC that is busy."""

_MODULES: Mapping[str, str] = {
    "ai-edge-litert": "ai_edge_litert.interpreter",
    "ethos-u-vela": "ethosu.vela",
    "joulescope": "joulescope.v1",
    "pyelftools": "elftools",
    "pyserial": "serial",
    "pytest-html": "pytest_html",
    "tflite-micro": "tflite_micro",
}
"""What is imported of a package whose module has another name."""

_MARK = "pytest-autodeploy imported: "
"""Packages may print, too."""

_SCRIPT = """
import json, sys
from pytest_autodeploy.base.imports import BrokenPackage, import_package
for module, package in map(str.split, sys.argv[2:]):
    words = ""
    try:
        import_package(module, package)
    except BrokenPackage as error:
        words = " ".join(error.reason.split())
        words += f" (in {error.package})" if error.package != package else ""
    print(sys.argv[1] + json.dumps([package, words]), flush=True)
"""
"""Tells of each package, in their order, why it could not be imported."""


def broken_imports(packages: Sequence[str]) -> Mapping[str, str]:
    """Why installed packages cannot be imported, by their names; empty when all can."""
    return _try(tuple(packages), os.environ.get("PYTHONPATH", ""))


@functools.cache
def _try(packages: tuple[str, ...], path: str) -> Mapping[str, str]:
    """What is wrong with which package, tried once in a process; ``path`` decides what is found."""
    if not packages:
        return {}
    quiet = own_environment(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1")
    wanted = [f"{_MODULES.get(name, name.replace('-', '_'))} {name}" for name in packages]
    command = [sys.executable, "-P", "-W", "ignore", "-c", _SCRIPT, _MARK, *wanted]
    done = run_tool(command, timeout_s=TIMEOUT_S, environment=quiet, apart=True)
    told = [line for line in done.output.splitlines() if line.startswith(_MARK)]
    ends = dict(json.loads(line.removeprefix(_MARK)) for line in told)
    broken = {name: text for name, text in ends.items() if text}
    if len(ends) == len(packages):
        return broken
    # It took the process with it; those behind it were not tried yet.
    name, *others = packages[len(ends) :]
    stuck = f" in {TIMEOUT_S:g} s" if done.code is None else ""
    return {**broken, name: f"it {done.how}{stuck}", **_try(tuple(others), path)}
