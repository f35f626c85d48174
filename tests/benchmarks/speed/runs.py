"""Start-up of the plugin, a whole run against a bare script, and many models on many boards."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from tests.benchmarks.speed.figures import Figure
from tests.benchmarks.speed.memory import Peaks, growth
from tests.benchmarks.speed.timing import Spent, in_turn, others, spend
from tests.helpers.support import KWS

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
for number in range(count + 24):
    micro.set_input(inputs[number % count], 0)
    micro.invoke()
    outputs.setdefault("tflm", []).append(micro.get_output(0))
"""
"""The inferences of the built-in tests: all inputs on each set of kernels and on TFLM, and there 24
more: 2 for the arena, 1 + 10 for the latency, 1 + 10 for the layers."""

PYTEST = [sys.executable, "-m", "pytest"]
NO_TESTS = 5
"""pytest's exit code of a run that collects nothing."""

MODELS = 100
SMALL_MODEL = "digits_cnn"
BOARDS = ("sim:apollo510_evb", "sim:apollo4p_evb")


def start_up(folder: Path, pairs: int) -> Iterator[Figure]:
    """pytest in an empty folder, with and without the plugin."""
    command = [*PYTEST, "--collect-only", "-q", "-p", "no:cacheprovider"]
    codes = (NO_TESTS,)
    plain = partial(spend, [*command, "-p", "no:autodeploy"], folder, codes)
    with others() as busy:
        turns = list(in_turn(pairs, partial(spend, command, folder, codes), plain))
    more = tuple(1e3 * (ours.cpu - theirs.cpu) for ours, theirs in turns)
    wall = tuple(ours.wall / theirs.wall for ours, theirs in turns)
    detail = f"pytest alone: {1e3 * _median(turns, lambda turn: turn[1].cpu):.0f} ms of CPU"
    yield Figure(
        "start-up: CPU beyond pytest's",
        "ms",
        "cpu",
        more,
        12,
        detail=detail,
        others=busy.share,
        load=busy.load,
    )
    yield Figure(
        "start-up: wall over pytest's",
        "times",
        "ratio",
        wall,
        1.05,
        others=busy.share,
        load=busy.load,
    )


def whole_run(folder: Path, pairs: int, inputs: int) -> Iterator[Figure]:
    """The built-in suite on the simulated board; 10 inputs are the default, 100 the app note's.

    Its limit is a bare script that computes the same and an empty run of pytest, added up.
    """
    script = folder / "bare.py"
    script.write_text(BARE_SCRIPT)
    options = ("--tflite-runs", str(inputs), "--autodeploy-power", "off")
    empty = [*PYTEST, "-q", "-p", "no:autodeploy"]
    with others() as busy:
        turns = list(
            in_turn(
                pairs,
                partial(spend, [*PYTEST, "autodeploy", "--tflite", str(KWS), *options], folder),
                partial(spend, [sys.executable, str(script), str(KWS), str(inputs)], folder),
                partial(spend, empty, folder, (NO_TESTS,)),
            )
        )
    limits = [bare + pytest for _, bare, pytest in turns]
    runs = [run for run, _, _ in turns]
    cpu = tuple(run.cpu / limit.cpu for run, limit in zip(runs, limits, strict=True))
    wall = tuple(run.wall / limit.wall for run, limit in zip(runs, limits, strict=True))
    what, bounded = f"kws, {inputs} inputs", inputs == 10
    yield Figure(
        f"{what}: wall over the limit's",
        "times",
        "wall",
        wall,
        1.25 if bounded else None,
        detail=_seconds(runs, limits, lambda spent: spent.wall),
        others=busy.share,
        load=busy.load,
    )
    yield Figure(
        f"{what}: CPU over the limit's",
        "times",
        "ratio",
        cpu,
        1.6 if bounded else None,
        detail=_seconds(runs, limits, lambda spent: spent.cpu),
        others=busy.share,
        load=busy.load,
    )


def many_models(folder: Path, repeats: int, workers: int) -> Iterator[Figure]:
    """100 small models on 2 boards: how long it takes, what a pair costs, how memory grows."""
    models = folder / "models"
    write_models(models, MODELS)
    command = [*PYTEST, "autodeploy", "--tflite", str(models), "--autodeploy-power", "off"]
    command += [part for board in BOARDS for part in ("--evb", board)]
    command += ["-n", str(workers)] if workers else []
    spent: list[Spent] = []
    grown: list[float] = []
    with others() as busy:
        for _ in range(repeats):
            with Peaks() as peaks:
                spent.append(spend(command, folder))
            grown.append(growth(peaks.samples))
    pairs = MODELS * len(BOARDS)
    what = f"{MODELS} models, {len(BOARDS)} boards, " + (f"-n {workers}" if workers else "serial")
    bound = 30 if workers else 40
    yield Figure(
        what,
        "s",
        "wall",
        tuple(each.wall for each in spent),
        bound,
        others=busy.share,
        load=busy.load,
    )
    costs = tuple(1e3 * each.cpu / pairs for each in spent)
    yield Figure(f"{what}: CPU of a pair", "ms", "cpu", costs, others=busy.share, load=busy.load)
    name = f"{what}: memory, the last tenth over the third"
    yield Figure(name, "times", "size", tuple(grown), 1.25, others=busy.share, load=busy.load)


def write_models(folder: Path, count: int) -> None:
    """So many models that differ in their bytes alone: each ends with a number of its own."""
    folder.mkdir(exist_ok=True)
    content = (KWS.parent / f"{SMALL_MODEL}.tflite").read_bytes()
    for number in range(count):
        tail = number.to_bytes(16, "little")
        (folder / f"model_{number:03}.tflite").write_bytes(content + tail)


def _median(turns: list[tuple[Spent, ...]], seconds: Callable[[tuple[Spent, ...]], float]) -> float:
    return statistics.median(map(seconds, turns))


def _seconds(runs: list[Spent], limits: list[Spent], of: Callable[[Spent], float]) -> str:
    run, limit = (statistics.median(map(of, each)) for each in (runs, limits))
    return f"{run:.2f} s, limit {limit:.2f} s"
