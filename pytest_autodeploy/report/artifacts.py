"""What was made for a model: its files, flash and RAM by part, and what was left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pytest_autodeploy.base.figure import Figure
from pytest_autodeploy.base.table import Column, table
from pytest_autodeploy.base.text import one_line
from pytest_autodeploy.base.units import group_digits

if TYPE_CHECKING:
    from pytest_autodeploy.metrics.records.artifacts import ArtifactsRecord, OmissionRecord

_LONGEST_REASON = 400


def artifact_figures(artifacts: ArtifactsRecord | None, output: str = "") -> list[Figure]:
    """Where the files are, what the library is made from, how the example ended, what is missing.

    ``output`` is the results folder as the user knows it.
    """
    if not artifacts:
        return []
    return [*_made(artifacts, output), *_left_out(artifacts.left_out)]


def _made(artifacts: ArtifactsRecord, output: str) -> list[Figure]:
    figures = []
    if artifacts.files:
        folder = "/".join(part for part in (output, artifacts.folder or "") if part)
        where = f" in {one_line(folder)}" if folder else ""
        figures.append(Figure("Artifacts", f"{len(artifacts.files)} files{where}"))
    if place := artifacts.characterised_on:
        source = artifacts.characterisation_source or ""
        figures.append(Figure("Characterised on", one_line(place), source))
    if runtime := artifacts.runtime:
        figures.append(Figure("Library made from", one_line(runtime)))
    if example := artifacts.example:
        text = "; ".join(example.output.splitlines()) or f"status {example.status}"
        figures.append(Figure("Example", one_line(text), "emulated"))
    return figures


def _left_out(left_out: Sequence[OmissionRecord]) -> list[Figure]:
    """One figure for each reason, with all that it is the reason of."""
    by_reason: dict[str, list[str]] = {}
    for each in left_out:
        by_reason.setdefault(one_line(each.why, _LONGEST_REASON), []).append(each.what)
    return [
        Figure("Left out", one_line(", ".join(what)), note=why) for why, what in by_reason.items()
    ]


def footprint_columns(artifacts: ArtifactsRecord | None) -> list[Column]:
    """Flash and RAM in bytes as linked: a row per part and one for all; none without a library."""
    footprints = artifacts.footprints if artifacts else ()
    if not footprints:
        return []
    sizes = [{part.part: part for part in each.parts} for each in footprints]
    names = list(max(sizes, key=len) | sizes[0])  # a program has the parts of its library, and more
    columns = [Column("Bytes as linked", [*names, "all"])]
    for each, by_name in zip(footprints, sizes, strict=True):
        flash = [group_digits(by_name[n].flash_bytes) if n in by_name else "" for n in names]
        ram = [group_digits(by_name[n].ram_bytes) if n in by_name else "" for n in names]
        of = each.of.capitalize()
        columns += [
            Column(f"{of} flash", [*flash, group_digits(each.flash_bytes)], right=True),
            Column(f"{of} RAM", [*ram, group_digits(each.ram_bytes)], right=True),
        ]
    return columns


def footprint_lines(artifacts: ArtifactsRecord | None) -> list[str]:
    """The columns of the footprint as lines of text, after an empty one."""
    columns = footprint_columns(artifacts)
    return ["", *table(columns)] if columns else []
