"""Firmware of an emulated board: built from nothing, and the second model of the same operators."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.benchmarks.speed.figures import Figure
from tests.benchmarks.speed.timing import others
from tests.helpers.support import KWS

MACHINE = "mps2-an386"
COLD = f"kws for {MACHINE}, built from nothing"
SECOND = f"another model for {MACHINE}, to its proof"
PROGRAMS = ("arm-none-eabi-g++", "cmake", "ninja", "qemu-system-arm")


def firmware(folder: Path, repeats: int) -> Iterator[Figure]:
    """The first build with an empty cache each time, then a model that is other bytes."""
    if missing := _missing():
        for name in (COLD, SECOND):
            yield Figure(name, "s", "wall", absent=f"needs {missing}")
        return
    with others() as busy:
        turns = [_turn(folder / str(number)) for number in range(repeats)]
    cold, second = zip(*turns, strict=True)
    yield Figure(COLD, "s", "wall", cold, 8, others=busy.share, load=busy.load)
    yield Figure(SECOND, "s", "wall", second, 1, others=busy.share, load=busy.load)


def _missing() -> str:
    from pytest_autodeploy.image.trees import TFLM_VARIABLE

    absent = [name for name in PROGRAMS if shutil.which(name) is None]
    return ", ".join(absent + ([] if os.environ.get(TFLM_VARIABLE) else [TFLM_VARIABLE]))


def _turn(folder: Path) -> tuple[float, float]:
    from pytest_autodeploy.board.emulated import EmulatedBoard
    from pytest_autodeploy.catalog.boards import board_spec
    from pytest_autodeploy.image.cmake import CMakeBuilder
    from pytest_autodeploy.image.firmware import BuildOptions
    from pytest_autodeploy.image.image import Image
    from pytest_autodeploy.model.load import load_model

    spec = board_spec(MACHINE, "machine")
    options = BuildOptions(cache=folder / "cache")
    builder = CMakeBuilder(spec, options, board_id=f"qemu:{MACHINE}")
    board = EmulatedBoard(f"qemu:{MACHINE}", spec, builder, timeout_s=60)
    other = folder / "other.tflite"
    other.parent.mkdir()
    other.write_bytes(KWS.read_bytes() + bytes(16))
    first, second = Image(load_model(KWS)), Image(load_model(other))
    try:
        cold = _seconds(lambda: builder.build(first))
        board.load(first)
        warm = _seconds(lambda: board.load(second))
    finally:
        board.close()
    return cold, warm


def _seconds(action: Callable[[], object]) -> float:
    began = time.perf_counter()
    action()
    return time.perf_counter() - began
