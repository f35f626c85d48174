"""What a model's file says, and what a board says of itself."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_autodeploy.base.measurement import Source


@dataclass(frozen=True)
class StaticLayer:
    """An operator of the main graph; ``macs`` is None when they are unknown."""

    index: int
    tag: str
    macs: int | None


@dataclass(frozen=True)
class ModelFacts:
    """What the file says; of one that cannot be read, only its names are known.

    ``file`` is the path as a shared file may hold it: from the root folder, or only the name.
    ``macs`` is None when operators are ``unknown_operators``; ``known_macs`` are those of the rest.
    """

    id: str
    name: str
    path: str
    file: str | None = None
    sha256: str | None = None
    size_bytes: int | None = None
    macs: int | None = None
    known_macs: int | None = None
    unknown_operators: tuple[str, ...] = ()
    operators: int | None = None
    parameters: int | None = None
    layers: tuple[StaticLayer, ...] = ()


@dataclass(frozen=True)
class BoardFacts:
    """What a board says of itself; of one that did not answer, what was asked for.

    ``kind`` is that of ``catalog``, or ``estimate`` of an accelerator in a board's place. ``clock``
    is its mode, HP or LP, and ``clock_hz`` what that is. ``source`` is that of figures that are
    measured on it. ``id`` is None of a test without a board.
    """

    id: str | None = None
    clock: str | None = None
    name: str | None = None
    kind: str | None = None
    source: Source | None = None
    core: str | None = None
    engine: str | None = None
    engine_version: str | None = None
    build_id: str | None = None
    clock_hz: int | float | None = None
    port: str | None = None


NO_BOARD = BoardFacts()
"""Of a test without a board."""
