"""What decides the firmware of one model on one board, as plain data for templates and keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from pytest_autodeploy.base.errors import ModelDoesNotFit
from pytest_autodeploy.catalog.fit import (
    ALIGNMENT,
    ARENA_MEMORIES,
    BUFFER_MEMORY,
    IMAGE_MEMORY,
    MODEL_MEMORIES,
    Placement,
    Use,
    largest_arena,
    place,
)
from pytest_autodeploy.image.errors import BuildError
from pytest_autodeploy.image.key import build_id, build_key
from pytest_autodeploy.image.places import Places, places_of
from pytest_autodeploy.model.arena import likely_arena_bytes

if TYPE_CHECKING:
    from pytest_autodeploy.catalog.boards import BoardSpec
    from pytest_autodeploy.image.image import Image
    from pytest_autodeploy.model.graph import Model, Tensor

Engine = Literal["tflm", "echo"]

SHARED_INPUT_BYTES = 64 * 1024
SHARED_LAYERS = 128
"""What an image that models share has at least; more is rounded up to a power of two."""

_ECHO_TYPES = {
    "float32": "kFloat32",
    "int32": "kInt32",
    "uint8": "kUint8",
    "int16": "kInt16",
    "int8": "kInt8",
}


@dataclass(frozen=True)
class Recipe:
    """The memories of an image, and all that its templates need but for the build id.

    The arena gets all of its memory: an arena of another size within it needs no other image.
    """

    model: Model
    board: str
    engine: Engine
    model_memory: str
    arena_memory: str
    context: Mapping[str, Any]


@dataclass(frozen=True)
class Plan:
    """An image that is to be built, and ``facts``: everything that decides what comes out."""

    recipe: Recipe
    facts: Mapping[str, object]

    @cached_property
    def key(self) -> str:
        """Under which the image is kept."""
        return build_key(self.facts)

    @property
    def build_id(self) -> str:
        """By which the firmware identifies itself."""
        return build_id(self.key)


@dataclass(frozen=True)
class Buffers:
    """Sizes in bytes that do not depend on the model."""

    message_bytes: int
    window_bytes: int
    log_bytes: int


def make_recipe(
    image: Image,
    spec: BoardSpec,
    shared: bool = False,
    /,
    *,
    engine: Engine,
    engine_version: str,
    buffers: Buffers,
    model_memory: str | None = None,
    arena_memory: str | None = None,
) -> Recipe:
    """Place the model and its arena and gather what goes into the sources.

    ``shared``: as `decide` has it. Raises ModelDoesNotFit.
    """
    model = image.model
    places = places_of(spec)
    memories = {"model_memory": model_memory, "arena_memory": arena_memory}
    placement = decide(image, spec, shared, **memories)
    shared = shared and placement.model_loaded
    inputs = _input_bytes(model, shared=shared)
    layers = max(sum(operator.subgraph == 0 for operator in model.operators), 1)
    methods = list(model.resolver_methods)
    context = {
        "board": spec.name,
        "transport": spec.transport,
        "engine_version": engine_version,
        **_model(model, placement, places, spec.memories[IMAGE_MEMORY].usable if shared else 0),
        "outside": _outside(places, placement),
        "arena_bytes": _largest_arena(spec, placement, model, inputs),
        "input_bytes": max(inputs, ALIGNMENT),
        "layers": _rounded(layers, SHARED_LAYERS) if shared else layers,
        **asdict(buffers),
        "power_pins": dict(spec.power_pins),
        "resolver_methods": sorted(methods) if shared else methods,
        "variables": model.resource_variables,
        "echo": [_echo(tensor) for tensor in model.inputs] if engine == "echo" else [],
    }
    return Recipe(model, spec.name, engine, placement.model_memory, placement.arena_memory, context)


def _outside(places: Places, placement: Placement) -> list[dict[str, Any]]:
    """The memories outside of the chip that an image uses, each once."""
    used = [name for name in places.outside if name in placement.memories]
    if len(used) > 1:
        raise ModelDoesNotFit(
            "neuralSPOT cannot use PSRAM and NVM in one program: both take the MSPI's interrupts",
            hint="choose another memory for the model or for the arena",
        )
    return [{"name": name, **asdict(places.outside[name])} for name in used]


def _largest_arena(spec: BoardSpec, placement: Placement, model: Model, inputs: int) -> int:
    """The bytes that are left for the arena where it was placed, beside inputs and model."""
    uses = (
        Use("inputs", BUFFER_MEMORY, inputs),
        Use("model", placement.model_memory, model.size_bytes),
    )
    return largest_arena(spec, uses, [placement.arena_memory])[1]


def decide(
    image: Image,
    spec: BoardSpec,
    shared: bool = False,
    /,
    *,
    model_memory: str | None = None,
    arena_memory: str | None = None,
) -> Placement:
    """Where the model and the arena of an image go: the one rule for firmware and deliverables.

    Tightly coupled memory when the arena is likely to fit, then SRAM, then PSRAM, where the board's
    linker script can; or the memories that are wanted. ``shared``: an image has a place for models
    in its own memory, which the host loads, so that those with the same operators share the image.
    Raises ModelDoesNotFit.
    """
    model, places = image.model, places_of(spec)
    placement = place(
        spec,
        model.size_bytes,
        image.arena_bytes,
        likely_arena_bytes=None if image.roomy else likely_arena_bytes(model),
        buffer_bytes=_input_bytes(model, shared=shared),
        model_memories=_allowed(spec, "model", model_memory, places.model, MODEL_MEMORIES),
        arena_memories=_allowed(spec, "arena", arena_memory, places.arena, ARENA_MEMORIES),
        copied_from=places.copied_from or None,
    )
    return replace(placement, model_loaded=True) if _loads(placement, shared) else placement


def _loads(placement: Placement, shared: bool) -> bool:
    return placement.model_loaded or (shared and placement.model_memory == IMAGE_MEMORY)


def _input_bytes(model: Model, *, shared: bool) -> int:
    """The room for inputs; in a shared image that of most models."""
    inputs = sum(_align(tensor.bytes) for tensor in model.inputs)
    return _rounded(inputs, SHARED_INPUT_BYTES) if shared else inputs


def _rounded(size: int, least: int) -> int:
    """The next power of two, at least ``least``."""
    return max(least, 1 << max(size - 1, 0).bit_length())


def _allowed(
    spec: BoardSpec,
    what: str,
    wanted: str | None,
    places: Mapping[str, str],
    memories: Sequence[str],
) -> list[str]:
    """The memories that firmware can use and the board has, or the one that is wanted."""
    allowed = [name for name in memories if name in places and name in spec.memories]
    if wanted is None:
        return allowed
    if wanted.lower() not in allowed:
        raise ModelDoesNotFit(
            f"{spec.name} cannot hold the {what} in {wanted.upper()}; "
            f"it can in {', '.join(allowed).upper()}",
            hint="choose one of these: --evb-model-memory, --evb-arena-memory",
        )
    return [wanted.lower()]


def _model(model: Model, placement: Placement, places: Places, shared_bytes: int) -> dict[str, Any]:
    """What the sources say of the model and where its data goes.

    Of a model that the host loads that is its size alone: others of that size with the same
    operators have the same image. In one with ``shared_bytes`` for any model it is not even that.
    """
    memory, loaded = placement.model_memory, placement.model_loaded
    copied = memory if memory in places.outside and not loaded else ""
    known = "00" * 32 if loaded else model.sha256
    return {
        "model": {
            "name": "" if loaded else model.name,
            "size_bytes": shared_bytes or model.size_bytes,
            "sha256_bytes": [f"0x{byte:02x}" for byte in bytes.fromhex(known)],
        },
        "places": {
            "model": "" if loaded else places.model[memory],
            "loaded": (places.loaded.get(memory) or places.arena[memory]) if loaded else "",
            "arena": places.arena[placement.arena_memory],
            "inputs": places.inputs,
        },
        "model_copied": copied,
        "upload_bytes": _align(shared_bytes or model.size_bytes) if loaded else 0,
    }


def _echo(tensor: Tensor) -> dict[str, Any]:
    if tensor.dtype not in _ECHO_TYPES:
        raise BuildError(f"the echo engine has no tensors of the type {tensor.dtype}")
    return {
        "name": tensor.name,
        "type": _ECHO_TYPES[tensor.dtype],
        "shape": [1 if size < 0 else size for size in tensor.shape],
        "scale": float(tensor.scale or 0.0),
        "zero_point": tensor.zero_point or 0,
    }


def _align(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT
