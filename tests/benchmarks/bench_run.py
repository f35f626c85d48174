"""Start-up of the plugin, and a whole run against a bare script. Ratios of runs in turn.

Run with ``make bench``, on a quiet machine.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.helpers.support import KWS

PAIRS = 15

BARE_SCRIPT = """
import sys
import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType
from tflite_micro.python.tflite_micro import runtime

content = open(sys.argv[1], "rb").read()
count = int(sys.argv[2])
inputs = np.random.default_rng(42).integers(-128, 128, (count, 1, 49, 10, 1), np.int8)
outputs = {}
for kind in (
    OpResolverType.BUILTIN_REF,
    OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
    OpResolverType.AUTO,
):
    interpreter = Interpreter(model_content=content, experimental_op_resolver_type=kind)
    interpreter.allocate_tensors()
    into, out = interpreter.get_input_details()[0], interpreter.get_output_details()[0]
    for sample in inputs:
        interpreter.set_tensor(into["index"], sample)
        interpreter.invoke()
        outputs.setdefault(kind, []).append(interpreter.get_tensor(out["index"]))
micro = runtime.Interpreter.from_bytes(content, arena_size=1 << 20)
for number in range(count + 14):
    micro.set_input(inputs[number % count], 0)
    micro.invoke()
    outputs.setdefault("tflm", []).append(micro.get_output(0))
"""
"""The inferences of the built-in tests: all inputs on each set of kernels and on TFLM, and there 14
more: 1 for the arena, 1 + 10 for the latency, 2 for the layers."""


def seconds(command: list[str], folder: Path) -> float:
    """Wall time of a command."""
    began = time.perf_counter()
    subprocess.run(command, cwd=folder, check=False, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def ratio(first: list[str], second: list[str], folder: Path, pairs: int) -> tuple[float, float]:
    """Median of the ratios of runs in turn, and the median seconds of the first."""
    seconds(first, folder), seconds(second, folder)
    times = [(seconds(first, folder), seconds(second, folder)) for _ in range(pairs)]
    return statistics.median(a / b for a, b in times), statistics.median(a for a, _ in times)


def test_start_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q"]
    found, took = ratio(command, [*command, "-p", "no:autodeploy"], tmp_path, PAIRS)
    with capsys.disabled():
        print(f"\nstart-up, empty folder: {found:.3f} times that without the plugin ({took:.2f} s)")


@pytest.mark.parametrize("inputs", [10, 100])
def test_whole_run(tmp_path: Path, capsys: pytest.CaptureFixture[str], inputs: int) -> None:
    """10 inputs are this plugin's default, 100 that of the application note."""
    script = tmp_path / "bare.py"
    script.write_text(BARE_SCRIPT)
    bare = [sys.executable, str(script), str(KWS), str(inputs)]
    options = ("--tflite-runs", str(inputs), "--autodeploy-power", "off")
    run = [sys.executable, "-m", "pytest", "autodeploy", "--tflite", str(KWS), *options]
    found, took = ratio(run, bare, tmp_path, 7)
    with capsys.disabled():
        print(
            f"\nwhole run of kws, {inputs} inputs: {found:.2f} times a bare script's ({took:.2f} s)"
        )
