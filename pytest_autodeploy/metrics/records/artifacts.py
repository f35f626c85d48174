"""What was made for a model on a board, as a record."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_autodeploy.base.measurement import Source


@dataclass(frozen=True)
class OmissionRecord:
    """What could not be made or run, and why, with what to do about it."""

    what: str
    why: str


@dataclass(frozen=True)
class PartRecord:
    """What one part of a program takes as linked."""

    part: str
    flash_bytes: int
    ram_bytes: int


@dataclass(frozen=True)
class FootprintRecord:
    """Flash and RAM of the ``library``, or of the ``example`` with the library, whole and by part.

    The figures are exact.
    """

    of: str
    flash_bytes: int
    ram_bytes: int
    parts: tuple[PartRecord, ...]


@dataclass(frozen=True)
class ExampleRecord:
    """How the example ended on an emulated board: its status, 0 when all outputs match."""

    status: int
    output: str


@dataclass(frozen=True)
class ArtifactsRecord:
    """The ``files`` below ``folder``, what was ``left_out``, and what the parts take.

    ``runtime`` names the TFLM that the library is made from. ``characterised_on`` is the board that
    ran the model for them, ``characterisation_source`` the source of its figures. None is what
    there is not, as nothing was made.
    """

    files: tuple[str, ...] = ()
    left_out: tuple[OmissionRecord, ...] = ()
    footprints: tuple[FootprintRecord, ...] = ()
    model: str | None = None
    board: str | None = None
    folder: str | None = None
    runtime: str | None = None
    example: ExampleRecord | None = None
    characterised_on: str | None = None
    characterisation_source: Source | None = None
    arena_bytes: int | None = None
