"""A delivery as ``autodeploy generate`` tells it: as JSON, and as lines."""

from __future__ import annotations

from collections.abc import Iterator
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

from pytest_autodeploy.base.figure import Figure
from pytest_autodeploy.base.text import one_line
from pytest_autodeploy.base.units import si
from pytest_autodeploy.report.artifacts import artifact_figures, footprint_lines
from pytest_autodeploy.report.terminal import figure_lines
from pytest_autodeploy.run.artifacts import artifacts_record

if TYPE_CHECKING:
    from pytest_autodeploy.deliver.characterization import Characterization
    from pytest_autodeploy.deliver.delivery import Delivery


def as_plain(delivery: Delivery, found: Characterization) -> dict[str, Any]:
    """What was made, as plain data for JSON."""
    import msgspec

    made = artifacts_record(delivery, found, "")
    place = {"board": made.characterised_on, "source": made.characterisation_source}
    return {
        "model": made.model,
        "board": made.board,
        "out": str(delivery.out),
        "files": made.files,
        "left_out": msgspec.to_builtins(made.left_out),
        "runtime": made.runtime or "",
        "footprints": msgspec.to_builtins(made.footprints),
        "example": msgspec.to_builtins(made.example),
        "characterised_on": place,
        "arena_bytes": made.arena_bytes,
    }


def as_lines(delivery: Delivery, found: Characterization) -> Iterator[str]:
    """What was made, for the terminal."""
    made = artifacts_record(delivery, found, str(delivery.out))
    arena = Figure("Arena", si(found.arena_bytes, "B"), found.place.source)
    yield f"{one_line(delivery.model)} for {delivery.board}: {found.agreement}"
    yield from figure_lines([arena, *artifact_figures(made)], get_terminal_size().columns)
    yield from footprint_lines(made)
