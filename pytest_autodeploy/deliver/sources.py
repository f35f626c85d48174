"""The generated sources of one model for one board: its library, and an example that calls it."""

from __future__ import annotations

from functools import cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Literal

from pytest_autodeploy.base.names import c_identifier
from pytest_autodeploy.base.templates import c_data, render
from pytest_autodeploy.deliver.arena import Arena, arena_for
from pytest_autodeploy.deliver.characterization import (
    ALLOCATOR_BYTES,
    VARIABLE_ARENA_FORMULA,
    Characterization,
    ExampleTensor,
)
from pytest_autodeploy.deliver.dtypes import TYPES, c_type, c_values
from pytest_autodeploy.deliver.errors import CharacterizationError
from pytest_autodeploy.deliver.placement import attributes, place_deliverable
from pytest_autodeploy.deliver.typed import registered, typed_registrations

if TYPE_CHECKING:
    from pytest_autodeploy.catalog.boards import BoardSpec
    from pytest_autodeploy.image.trees import TflmTree
    from pytest_autodeploy.model.graph import Model

Console = Literal["stdio", "neuralspot", "ambiqsuite"]
Files = dict[str, str]


class Sources:
    """The sources of a model for a board, as text by file name.

    ``runtime`` is the TFLM tree that they will be built with, if it is known: an arena that was
    measured with the same one, on the same core, needs no margin. Raises CharacterizationError for
    a characterisation of another model, and ModelDoesNotFit for a board that has no room.
    """

    def __init__(
        self,
        characterization: Characterization,
        model: Model,
        board: BoardSpec,
        *,
        runtime: TflmTree | None = None,
        model_memory: str | None = None,
        arena_memory: str | None = None,
        arena_padding: int = 0,
    ) -> None:
        _check_model(characterization, model)
        self.characterization = characterization
        self.model = model
        self.board = board
        self.runtime = runtime
        self.name = c_identifier(model.name)
        version = runtime.version if runtime else None
        self.arena: Arena = arena_for(characterization, model, board, version, arena_padding)
        self.placement = place_deliverable(
            model,
            board,
            characterization,
            self.arena.bytes,
            model_memory=model_memory,
            arena_memory=arena_memory,
        )

    def library(self) -> Files:
        """What the static library is made from, and its header."""
        return self._rendered(
            *("api.h", "neuralspot.h", "model.cc", "model_data.h", "model_data.cc")
        )

    def library_of_all_types(self) -> Files:
        """As ``library``, with kernels for every type that TFLM has: for a comparison of sizes."""
        methods = registered(self.characterization.resolver_methods, {})
        context = {**self.context, "registrations": methods}
        return {**self.library(), f"{self.name}_model.cc": _render("model.cc", context)}

    @cached_property
    def typed(self) -> dict[str, str]:
        """Resolver methods that register a kernel for one type alone, and with what."""
        if self.runtime is None:
            return {}
        return typed_registrations(self.model, self.runtime, self.board.core)

    def example(self, console: Console) -> Files:
        """An example in C that calls the library; its ``main`` returns 0 when all outputs match.

        For neuralSPOT the same C is C++ to the compiler: its make finds the object of a C source by
        its path, in which it takes any ``.c`` for the suffix, such as that of ``~/.cache``.
        """
        names = ("api.h", "example.h", "example.c", "example_tensors.h", "compare.h", "compare.c")
        shims = ("neuralspot.h", "neuralspot_tensors.h")
        fixed = ("example_console.h", "main.c")
        context = {**self.context, "console": console, "core": self.board.core}
        files = self._rendered(*names, *shims) | {file: _render(file, context) for file in fixed}
        if console != "neuralspot":
            return files
        return {_as_cpp(name): text for name, text in files.items()}

    @property
    def console(self) -> Console:
        """Where an example on the board prints: QEMU's programs have a standard output."""
        return "neuralspot" if self.board.has_sdk else "stdio"

    def _rendered(self, *templates: str) -> Files:
        return {f"{self.name}_{file}": _render(file, self.context) for file in templates}

    @cached_property
    def context(self) -> dict[str, Any]:
        """What templates may name."""
        found, model = self.characterization, self.model
        return {
            "name": self.name,
            "title": model.name,
            "sha256": model.sha256,
            "size_bytes": model.size_bytes,
            "data": c_data(model.content),
            "board": self.board.title,
            "place": found.place,
            "tool_version": found.tool_version,
            "arena": self.arena,
            "arena_text": _arena_text(self.arena, found),
            "least_arena_bytes": ALLOCATOR_BYTES,
            "variables": found.resource_variables,
            "variable_arena_bytes": found.variable_arena_bytes,
            "variable_formula": VARIABLE_ARENA_FORMULA,
            "registrations": registered(found.resolver_methods, self.typed),
            "dtypes": TYPES,
            "placement": self.placement,
            "places": attributes(self.board, self.placement),
            "example": found.example,
            "flat_inputs": c_data(b"".join(each.data for each in found.example.inputs)),
            "flat_outputs": c_data(b"".join(each.data for each in found.example.outputs)),
            "inputs": [_tensor(tensor) for tensor in found.example.inputs],
            "outputs": [_tensor(tensor) for tensor in found.example.outputs],
        }


def _render(file: str, context: dict[str, Any]) -> str:
    return render(file, context, "deliver")


def _as_cpp(name: str) -> str:
    """The name of a C source as that of a C++ one; others stay."""
    return f"{name}c" if PurePath(name).suffix == ".c" else name


def _check_model(characterization: Characterization, model: Model) -> None:
    if characterization.details.sha256 != model.sha256:
        raise CharacterizationError(
            f"the characterisation is of the model {characterization.details.sha256}, not of "
            f"{model.path}, {model.sha256}",
            hint="give the model that was characterised, or characterise this one",
        )


def _arena_text(arena: Arena, found: Characterization) -> str:
    text = f"{found.arena_bytes} ran the model ({found.place.source} on {found.place.name})"
    if not arena.margin_bytes:
        return f"{text}."
    return f"{text}; {arena.margin_bytes} more are for another core or TFLM, or as asked for."


def _tensor(tensor: ExampleTensor) -> dict[str, Any]:
    kind = c_type(tensor.dtype, tensor.name)
    return {
        "name": tensor.name,
        "dtype": tensor.dtype,
        "shape": list(tensor.shape),
        "element": kind.element,
        "elements": len(tensor.data) // kind.bytes,
        "lines": c_values(kind, tensor.data),
        "unit": tensor.unit,
        "atol": repr(tensor.atol),
        "rtol": repr(tensor.rtol),
        "tolerance": tensor.tolerance,
    }
