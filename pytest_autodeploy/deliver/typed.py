"""Kernels for the types that a model has, where TFLM offers them: the others are not linked."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_autodeploy.deliver.includes import included_files

if TYPE_CHECKING:
    from pytest_autodeploy.image.trees import TflmTree
    from pytest_autodeploy.model.graph import Model, Operator

RESOLVER = Path("tensorflow/lite/micro/micro_mutable_op_resolver.h")

_TYPES = ("int8", "int16")
_BIAS = ("int32", "int64")
"""Beside the values of a layer: biases, and the shapes that some operators take."""

_INT16_WEIGHTS = "int8"


def typed_registrations(model: Model, tree: TflmTree, core: str) -> dict[str, str]:
    """Calls that register a kernel for one type alone, by the resolver method that takes them.

    An operator has one when all its layers have the same type, TFLM's header has the function and
    a method that takes its result, and the library for the core has it, too.
    """
    header = tree.root / RESOLVER
    if not header.is_file():
        return {}
    archive = tree.library(core, smallest=True)
    takes, declared, symbols = _taking(header), _declared(header), archive.read_bytes()
    found = {}
    for method in model.resolver_methods:
        layers = [each for each in model.operators if each.resolver == method]
        kind = _only_type(layers)
        function = f"Register_{layers[0].name}_{kind}"
        if kind and method in takes and function in declared and _mangle(function) in symbols:
            found[method] = f"tflite::{function}()"
    return found


def _only_type(layers: list[Operator]) -> str | None:
    """ "INT8" or "INT16" when every layer computes in that type alone, with weights of 8 bits."""
    kinds = {_type_of(layer) for layer in layers if not layer.custom}
    return kinds.pop() if len(kinds) == 1 and not any(layer.custom for layer in layers) else None


def _type_of(layer: Operator) -> str | None:
    inputs = [tensor for tensor in layer.inputs if tensor is not None]
    if not inputs:
        return None
    values = {tensor.dtype for tensor in (*inputs, *layer.outputs)} - set(_BIAS)
    first = inputs[0].dtype
    if first not in _TYPES or any(tensor.dtype != first for tensor in layer.outputs):
        return None
    rest = {first, _INT16_WEIGHTS} if first == "int16" else {first}
    return first.upper() if values <= rest else None


@functools.cache
def _taking(header: Path) -> frozenset[str]:
    """The methods that take a registration."""
    text = header.read_text(encoding="utf-8", errors="replace")
    return frozenset(re.findall(r"\b(Add\w+)\(\s*const TFLMRegistration&", text))


@functools.cache
def _declared(header: Path) -> frozenset[str]:
    """The functions that can be called where the header is included."""
    root = header.parents[3]
    texts = [header.read_bytes()]
    files = included_files(texts, [root]).values()
    every = "\n".join(path.read_text(encoding="utf-8", errors="replace") for path in files)
    return frozenset(re.findall(r"\b(Register_\w+_INT(?:8|16))\(\)", every))


def _mangle(function: str) -> bytes:
    """A function of namespace tflite without arguments, by the Itanium C++ ABI."""
    return f"_ZN6tflite{len(function)}{function}Ev\0".encode()


def registered(methods: tuple[str, ...], typed: Mapping[str, str]) -> dict[str, str]:
    """What each method of the resolver is called with."""
    return {method: typed.get(method, "") for method in methods}
