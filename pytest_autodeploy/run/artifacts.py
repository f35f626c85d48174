"""The record of a delivery, as tests and the command line tell of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_autodeploy.metrics.records.artifacts import (
    ArtifactsRecord,
    ExampleRecord,
    FootprintRecord,
    OmissionRecord,
    PartRecord,
)

if TYPE_CHECKING:
    from pytest_autodeploy.deliver.characterization import Characterization
    from pytest_autodeploy.deliver.delivery import Delivery
    from pytest_autodeploy.deliver.footprint import Footprint


def artifacts_record(delivery: Delivery, found: Characterization, folder: str) -> ArtifactsRecord:
    """What was made from a characterisation; ``folder`` is how the record names its place."""
    place, example = found.place, delivery.example
    return ArtifactsRecord(
        files=tuple(path.relative_to(delivery.out).as_posix() for path in delivery.written),
        left_out=tuple(OmissionRecord(each.what, each.why) for each in delivery.left_out),
        footprints=tuple(map(footprint_record, delivery.footprints)),
        model=delivery.model,
        board=delivery.board,
        folder=folder,
        runtime=delivery.runtime or None,
        example=ExampleRecord(example.status, example.output) if example else None,
        characterised_on=place.board,
        characterisation_source=place.source,
        arena_bytes=found.arena_bytes,
    )


def nothing_made(reason: str) -> ArtifactsRecord:
    """The record of a model for which no artifacts were made."""
    return ArtifactsRecord(left_out=(OmissionRecord("all artifacts", reason),))


def footprint_record(footprint: Footprint) -> FootprintRecord:
    """Flash and RAM of a program, whole and by part."""
    return FootprintRecord(
        of=footprint.what,
        flash_bytes=footprint.flash_bytes,
        ram_bytes=footprint.ram_bytes,
        parts=tuple(
            PartRecord(part.part, part.flash_bytes, part.ram_bytes) for part in footprint.parts
        ),
    )
