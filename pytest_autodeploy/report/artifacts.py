"""What was made for a model: its files, flash and RAM by part, and what was left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_autodeploy.base.figure import Figure
from pytest_autodeploy.base.table import Column, table
from pytest_autodeploy.base.text import one_line
from pytest_autodeploy.base.units import grouped

Plain = Mapping[str, Any]

_LONGEST_REASON = 400


def artifact_figures(result: Plain, output: str = "") -> list[Figure]:
    """Where the files are, what the library is made from, how the example ended, what is missing.

    ``output`` is the results folder as the user knows it.
    """
    artifacts = result.get("artifacts")
    if not artifacts:
        return []
    return [*_made(artifacts, output), *_left_out(artifacts["left_out"])]


def _made(artifacts: Plain, output: str) -> list[Figure]:
    figures = []
    if artifacts["files"]:
        folder = "/".join(part for part in (output, artifacts.get("folder", "")) if part)
        where = f" in {one_line(folder)}" if folder else ""
        figures.append(Figure("Artifacts", f"{len(artifacts['files'])} files{where}"))
    if place := artifacts.get("characterised_on"):
        source = artifacts["characterisation_source"]
        figures.append(Figure("Characterised on", one_line(place), source))
    if runtime := artifacts.get("runtime"):
        figures.append(Figure("Library made from", one_line(runtime)))
    if example := artifacts.get("example"):
        words = "; ".join(example["output"].splitlines()) or f"status {example['status']}"
        figures.append(Figure("Example", one_line(words), "emulated"))
    return figures


def _left_out(left_out: Sequence[Plain]) -> list[Figure]:
    """One figure for each reason, with all that it is the reason of."""
    by_reason: dict[str, list[str]] = {}
    for each in left_out:
        by_reason.setdefault(one_line(each["why"], _LONGEST_REASON), []).append(each["what"])
    return [
        Figure("Left out", one_line(", ".join(what)), note=why) for why, what in by_reason.items()
    ]


def footprint_columns(result: Plain) -> list[Column]:
    """Flash and RAM in bytes as linked: a row per part and one for all; none without a library."""
    artifacts = result.get("artifacts")
    footprints = artifacts["footprints"] if artifacts else ()
    if not footprints:
        return []
    sizes = [{part["part"]: part for part in each["parts"]} for each in footprints]
    names = list(sizes[-1] | sizes[0])  # a program has the parts of its library, and more
    columns = [Column("Bytes as linked", [*names, "all"])]
    for each, by_name in zip(footprints, sizes, strict=True):
        for memory, word in (("flash_bytes", "flash"), ("ram_bytes", "RAM")):
            cells = [grouped(by_name[n][memory]) if n in by_name else "" for n in names]
            heading = f"{each['of'].capitalize()} {word}"
            columns.append(Column(heading, [*cells, grouped(each[memory])], right=True))
    return columns


def footprint_lines(result: Plain) -> list[str]:
    """The columns of the footprint as lines of text, after an empty one."""
    columns = footprint_columns(result)
    return ["", *table(columns)] if columns else []
