"""What the flash of a simulated board holds."""

from __future__ import annotations

import functools
import hashlib
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_autodeploy.base.errors import ModelDoesNotFit, ModelError
from pytest_autodeploy.catalog.fit import (
    ARENA_MEMORIES,
    IMAGE_MEMORY,
    MODEL_MEMORIES,
    Placement,
    place,
)
from pytest_autodeploy.model.load import check_model, load_model
from pytest_autodeploy.rpc.messages import Status
from pytest_autodeploy.rpc.service import Refused

if TYPE_CHECKING:
    from pytest_autodeploy.catalog.boards import BoardSpec
    from pytest_autodeploy.model.graph import Model


@dataclass(frozen=True)
class Flash:
    """A model, or why it is none, the size of its arena, and the id of the firmware's build.

    ``loaded``: there is no room for the model, and the host loads it; until then it is `NO_MODEL`
    without a hash, of the size that there is room for.
    """

    model: Model | ModelError
    size_bytes: int
    sha256: bytes
    arena_bytes: int
    build_id: str
    loaded: bool = False

    @property
    def room_bytes(self) -> int:
        """For a model that the host loads; 0 when the image has its own."""
        return self.size_bytes if self.loaded else 0


@dataclass(frozen=True)
class Memories:
    """The memories that a model and its arena may be placed in, in order of preference."""

    model: tuple[str, ...] = MODEL_MEMORIES
    arena: tuple[str, ...] = ARENA_MEMORIES

    @classmethod
    def of(cls, model: str | None, arena: str | None) -> Memories:
        """Those that were chosen; None leaves the choice to the placement."""
        return cls((model,) if model else MODEL_MEMORIES, (arena,) if arena else ARENA_MEMORIES)

    def place(self, spec: BoardSpec, model_bytes: int, arena_bytes: int) -> Placement:
        """Where they go on a board. Raises ModelDoesNotFit."""
        return place(
            spec,
            model_bytes,
            arena_bytes,
            model_memories=self.model,
            arena_memories=self.arena,
            copied_from=IMAGE_MEMORY,
        )

    def check(self, spec: BoardSpec, model_bytes: int, arena_bytes: int) -> None:
        """Raise Refused when there is no room for them."""
        try:
            self.place(spec, model_bytes, arena_bytes)
        except ModelDoesNotFit as error:
            raise Refused(Status.NO_MEMORY, str(error)) from None


NO_MODEL = ModelError("no model has been loaded and proven since the start")


def flashed(
    spec: BoardSpec, memories: Memories, path: Path, arena_bytes: int, build_id: str | None
) -> Flash:
    """The flash with the model of a file; ``arena_bytes`` 0 is the largest arena there is room for.

    Raises ModelDoesNotFit, OSError.
    """
    model = _load(path)
    content = path.read_bytes() if isinstance(model, ModelError) else model.content
    placement = memories.place(spec, len(content), arena_bytes)
    loaded = placement.model_loaded
    return Flash(
        model=NO_MODEL if loaded else model,
        size_bytes=len(content),
        sha256=b"" if loaded else hashlib.sha256(content).digest(),
        arena_bytes=placement.arena_bytes,
        build_id=build_id or default_build_id(),
        loaded=loaded,
    )


def with_loaded(image: Flash, content: bytes) -> Flash:
    """What runs when the host has loaded a model."""
    try:
        model: Model | ModelError = check_model(Path("loaded.tflite"), content)
    except ModelError as error:
        model = error
    sha256 = hashlib.sha256(content).digest()
    return replace(image, model=model, size_bytes=len(content), sha256=sha256)


def _load(path: Path) -> Model | ModelError:
    try:
        return load_model(path)
    except ModelError as error:
        return error


def default_build_id() -> str:
    """The firmware build id of a simulated board."""
    return f"sim-{distribution_version('pytest-autodeploy')}"


@functools.cache
def distribution_version(name: str) -> str:
    """Version of an installed distribution, "unknown" when it is not installed as one.

    Its folder has it in its name. To ask importlib.metadata takes 25 ms, most of them for modules
    that read what nobody asks for, at each start of a board.
    """
    start = f"{name.replace('-', '_')}-"
    for folder in sys.path:
        for found in Path(folder).glob(f"{start}*.dist-info"):
            return found.stem.removeprefix(start)
    return "unknown"
