"""Many labelled samples on the simulated board, against what TFLM alone takes for them."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from tests.benchmarks.speed.figures import Figure
from tests.benchmarks.speed.timing import environment, in_turn, others
from tests.helpers.support import KWS

SAMPLES = 1000

TFLM_ALONE = """
import sys, time
import numpy as np
from tflite_micro.python.tflite_micro import runtime

content, count = open(sys.argv[1], "rb").read(), int(sys.argv[2])
inputs = np.random.default_rng(42).integers(-128, 128, (count, 1, 49, 10, 1), np.int8)
micro = runtime.Interpreter.from_bytes(content, arena_size=1 << 20)
began = time.perf_counter()
for sample in inputs:
    micro.set_input(sample, 0)
    micro.invoke()
    micro.get_output(0)
print(time.perf_counter() - began)
"""


def dataset(repeats: int) -> Iterator[Figure]:
    """1,000 samples with labels, and without any."""
    import numpy as np

    from pytest_autodeploy.board.simulated import SimulatedBoard
    from pytest_autodeploy.catalog.boards import board_spec
    from pytest_autodeploy.model.load import load_model
    from pytest_autodeploy.reference.inputs import as_inputs
    from pytest_autodeploy.session.model_session import ModelSession

    board = SimulatedBoard("sim:apollo4p_evb", board_spec("apollo4p_evb"), timeout_s=30)
    model = load_model(KWS)
    values = np.random.default_rng(42).integers(-128, 128, (SAMPLES, 49, 10, 1), np.int8)
    session = ModelSession(model, board, inputs=as_inputs(values, model))
    session.begin()
    labels = np.zeros(SAMPLES, np.int64)
    kinds: dict[str, Any] = {
        "outputs": session.run,
        "accuracy": partial(session.accuracy, labels),
    }
    try:
        for what, action in kinds.items():
            with others() as busy:
                turns = list(in_turn(repeats, partial(_seconds, action), _tflm_alone))
            ours, alone = turns[len(turns) // 2]
            yield Figure(
                f"kws, {SAMPLES} samples, {what}: over TFLM's own time",
                "times",
                "wall",
                tuple(ours / alone for ours, alone in turns),
                1.1,
                detail=f"{ours:.2f} s, TFLM {alone:.2f} s",
                others=busy.share,
                load=busy.load,
            )
    finally:
        board.close()


def _seconds(action: Any) -> float:
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def _tflm_alone() -> float:
    command = [sys.executable, "-c", TFLM_ALONE, str(KWS), str(SAMPLES)]
    done = subprocess.run(command, check=True, capture_output=True, env=environment())
    return float(json.loads(done.stdout))


def folder_of(_folder: Path, repeats: int) -> Iterator[Figure]:
    """As the others have it: nothing is written."""
    yield from dataset(repeats)
