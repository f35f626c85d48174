"""What the tests of firmware builds and of emulated boards need, and how they are skipped."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from pytest_autodeploy.board.emulated import EmulatedBoard
from pytest_autodeploy.catalog.boards import BoardSpec, board_names, board_spec
from pytest_autodeploy.image.cmake import CMakeBuilder
from pytest_autodeploy.image.firmware import BuildOptions
from pytest_autodeploy.image.image import Image
from pytest_autodeploy.image.trees import TFLM_VARIABLE
from pytest_autodeploy.model.load import load_model

COMPILER = shutil.which("arm-none-eabi-g++") or ""
MACHINES = board_names("machine")


def _needs(*programs: str) -> pytest.MarkDecorator:
    missing = [program for program in programs if shutil.which(program) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")


needs_compiler = _needs("arm-none-eabi-g++")
needs_cmake = _needs("arm-none-eabi-g++", "cmake", "ninja")
needs_qemu = _needs("arm-none-eabi-g++", "cmake", "ninja", "qemu-system-arm")
needs_tflm = pytest.mark.skipif(
    TFLM_VARIABLE not in os.environ, reason=f"no TFLM tree: {TFLM_VARIABLE} is not set"
)


def machine(name: str) -> BoardSpec:
    """An emulated machine of the catalog."""
    return board_spec(name, "machine")


def image(folder: Path, content: bytes, name: str = "model", arena_bytes: int = 0) -> Image:
    """The image of a model with this content, written to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.tflite"
    path.write_bytes(content)
    return Image(load_model(path), arena_bytes)


def echo_builder(name: str, cache: Path) -> CMakeBuilder:
    """Builds firmware of the echo engine, whose outputs are its inputs."""
    options = BuildOptions(cache=cache)
    return CMakeBuilder(machine(name), options, board_id=f"qemu:{name}", engine="echo")


def echo_board(name: str, cache: Path, timeout_s: float = 10) -> EmulatedBoard:
    """A board that runs the echo engine."""
    builder = echo_builder(name, cache)
    return EmulatedBoard(f"qemu:{name}", machine(name), builder, timeout_s=timeout_s)
