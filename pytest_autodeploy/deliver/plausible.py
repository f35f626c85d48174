"""Whether a characterisation can be true: its files come from outside, as a model does.

What the model's file tells is worked out again and compared; numbers have ranges, and every text
has its alphabet, as it goes into sources and into pages.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_autodeploy.base.kernel_paths import ALL_PATHS
from pytest_autodeploy.catalog.boards import CORES
from pytest_autodeploy.catalog.fit import ALIGNMENT, ARENA_MEMORIES, MODEL_MEMORIES
from pytest_autodeploy.deliver.characterization import (
    Characterization,
    Example,
    ExampleTensor,
    ModelDetails,
    Place,
    details_of,
)
from pytest_autodeploy.model.arena import least_arena_bytes

if TYPE_CHECKING:
    from pytest_autodeploy.model.graph import Model, Tensor

ADDRESS_SPACE = 1 << 32
"""Of a Cortex-M: no arena is as large."""

LONGEST_TEXT = 2000
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9 _.,:+/()@-]{0,99}")
_CLOCKS = ("HP", "LP")


class Implausible(ValueError):
    """A field that cannot be true; the text names it."""


def checked(found: Characterization, model: Model) -> Characterization:
    """The characterisation with the details of the model itself. Raises Implausible.

    Formulas of MACs and parameters may differ between versions, so those are taken from the model.
    """
    own = details_of(model)
    _equal("details", _comparable(found.details), _comparable(own))
    _equal("resolver_methods", found.resolver_methods, model.resolver_methods)
    _equal("resource_variables", found.resource_variables, model.resource_variables)
    least = max(ALIGNMENT, least_arena_bytes(model))
    _between("arena_bytes", found.arena_bytes, least, ADDRESS_SPACE)
    _between("arena_used_bytes", found.arena_used_bytes, 0, ADDRESS_SPACE)
    _check_place(found.place)
    _check_example(found.example, model)
    _printable("agreement", found.agreement)
    _word("tool_version", found.tool_version)
    return replace(found, details=own)


def _comparable(details: ModelDetails) -> ModelDetails:
    operators = tuple(replace(each, macs=None) for each in details.operators)
    return replace(details, macs=None, parameters=0, operators=operators)


def _check_place(place: Place) -> None:
    for name in ("board", "name", "engine", "engine_version", "build_id"):
        _word(f"place.{name}", getattr(place, name))
    _one_of("place.core", place.core, CORES)
    _one_of("place.clock", place.clock, _CLOCKS)
    _one_of("place.model_memory", place.model_memory, MODEL_MEMORIES)
    _one_of("place.arena_memory", place.arena_memory, ARENA_MEMORIES)


def _check_example(example: Example, model: Model) -> None:
    _one_of("example.path", example.path, ALL_PATHS)
    _printable("example.origin", example.origin)
    if example.seed is not None:
        _between("example.seed", example.seed, 0, 1 << 64)
    for what, given, tensors in (
        ("inputs", example.inputs, model.inputs),
        ("outputs", example.outputs, model.outputs),
    ):
        _equal(f"the number of example.{what}", len(given), len(tensors))
        for number, (each, tensor) in enumerate(zip(given, tensors, strict=True)):
            _check_tensor(f"example.{what}[{number}]", each, tensor)


def _check_tensor(name: str, given: ExampleTensor, tensor: Tensor) -> None:
    for field in ("name", "dtype", "shape"):
        _equal(f"{name}.{field}", getattr(given, field), getattr(tensor, field))
    _equal(f"the bytes of {name}.data", len(given.data), tensor.bytes)
    for field in ("atol", "rtol"):
        value = getattr(given, field)
        if not math.isfinite(value) or value < 0:
            raise Implausible(f"{name}.{field} is {value!r}, not a number from 0 on")
    _printable(f"{name}.tolerance", given.tolerance)


def _equal(name: str, found: object, wanted: object) -> None:
    if found != wanted:
        raise Implausible(f"{name}: {next(_differences(found, wanted))}")


def _differences(found: object, wanted: object) -> Iterator[str]:
    """Where two values differ, in words; of long ones only the first place."""
    if isinstance(found, ModelDetails) and isinstance(wanted, ModelDetails):
        for name in vars(wanted):
            if getattr(found, name) != getattr(wanted, name):
                yield f"{name} are not those of the model"
    yield f"{found!r:.60} is not the model's {wanted!r:.60}"


def _between(name: str, value: int, least: int, end: int) -> None:
    if not least <= value < end:
        raise Implausible(f"{name} is {value!r:.40}, not one of {least} to {end - 1}")


def _one_of(name: str, value: str, known: Collection[str]) -> None:
    if value not in known:
        raise Implausible(f"{name} is {value!r:.40}, not one of {', '.join(known)}")


def _word(name: str, value: str) -> None:
    if not _WORD.fullmatch(value):
        raise Implausible(f"{name} is {value!r:.60}, which has other letters than such a name")


def _printable(name: str, value: str) -> None:
    if not value.isprintable() or len(value) > LONGEST_TEXT:
        raise Implausible(f"{name} is {value!r:.60}, which is no line of text")
