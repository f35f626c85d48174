"""A real process that says it is hardware, and whose clock may be another than it says."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pytest_autodeploy.catalog.boards import board_spec
from pytest_autodeploy.image.cmake import BUFFERS
from pytest_autodeploy.image.image import Image
from pytest_autodeploy.image.recipe import make_recipe
from pytest_autodeploy.image.sources import generate, write_sources
from pytest_autodeploy.model.graph import Model
from tests.helpers.duplicates import duplicating_link
from tests.helpers.firmware_support import build, running

BOARD = "apollo4p_evb"


def program_for(config: pytest.Config, model: Model) -> Path:
    """The firmware for this PC with the engine echo, under the name of an EVB."""
    spec = board_spec(BOARD)
    recipe = make_recipe(Image(model), spec, engine="echo", engine_version="1", buffers=BUFFERS)
    assert config.cache is not None
    folder = config.cache.mkdir("lying-board") / model.sha256[:12]
    write_sources(folder, generate(recipe, "b1"))
    return build(config, "firmware", BOARD="host", CONFIG_DIR=folder) / "autodeploy"


@contextmanager
def hardware(program: Path, clock_rate: float = 1.0) -> Iterator[str]:
    """The URL of a board of one host after the other, whose ticks are so fast, where right is 1."""
    said = {"AUTODEPLOY_HARDWARE": "1", "AUTODEPLOY_CLOCK_RATE": str(clock_rate)}
    ours, theirs = socket.socketpair()
    with running(program, theirs, **said), duplicating_link(ours, 0, chance=0) as (address, _):
        yield f"socket://{address}"
