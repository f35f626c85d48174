"""The kinds of boards: one row for each, which everything else that knows kinds is derived from.

What stands before the name of a board, up to the colon, is its kind: ``sim:apollo4p_evb``. Rows are
data; what makes a board of a kind is in ``board/makers.py``. An installed package adds a kind by an
entry point of the group ``autodeploy.board_kinds`` that has the prefix for its name and a ``Kind``
with a ``make`` for its object::

    [project.entry-points."autodeploy.board_kinds"]
    mykind = "my_package:KIND"
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_autodeploy.catalog.kind import ANSWERS as ANSWERS
from pytest_autodeploy.catalog.kind import NEEDS as NEEDS
from pytest_autodeploy.catalog.kind import Kind as Kind

if TYPE_CHECKING:
    from pytest_autodeploy.catalog.boards import BoardSpec

SIMULATED = Kind(
    prefix="sim:",
    name="simulated",
    noun="a simulated board",
    runs="TFLM's kernels on this PC, modelled time",
    source="modelled",
    needs=("sim",),
    attachable=True,
    answers_as=("simulated",),
    own_meter=True,
    pc_kernels=True,
    options=("sim_arguments",),
)
EMULATED = Kind(
    prefix="qemu:",
    name="emulated",
    noun="an emulated machine",
    runs="Arm firmware on QEMU, counts of instructions",
    source="emulated",
    part="machine",
    stands_in=False,
    needs=("compiler", "cmake", "ninja_or_make", "tflm_tree", "qemu"),
    exact=True,
    random_runs=5,  # an inference takes up to a fifth of a second
    no_events="QEMU has none",
    example="mps2-an386",
)
VIRTUAL = Kind(
    prefix="virtual:",
    name="virtual",
    noun="a virtual EVB",
    runs="an EVB's own image on unicorn, counts of instructions",
    source="emulated",
    part="virtual",
    needs=("virtual", "compiler"),
    answers_as=("hardware", "emulated"),
    own_meter=True,
    exact=True,
    random_runs=5,  # an inference takes up to a second
    no_events="a Cortex-M4 has none",
    example="apollo3p_evb",
)
HARDWARE = Kind(
    prefix="",
    name="hardware",
    noun="an EVB",
    runs="an EVB, flashed through its probe, measured",
    source="measured",
    stands_in=False,
    is_hardware=True,
    needs=("compiler", "make", "sdk", "probe_tool"),
    attachable=True,
    answers_as=("hardware", "emulated"),
    goal="evb",
    title="EVBs",
)
LEASED = Kind(
    prefix="labgrid:",
    name="leased",
    noun="a board that labgrid lends",
    runs="a board of a lab, flashed where it has a J-Link",
    source="measured",
    source_text="that of the board",
    part="place",
    is_hardware=True,
    needs=("labgrid",),
    example="+board=apollo4p_evb",
    takes="PLACE",
)
RECORDED = Kind(
    prefix="recorded:",
    name="recorded",
    noun="a recording",
    runs="what a board answered in an earlier run",
    source="measured",
    source_text="that of the board",
    part="recording",
    example="DIR/BOARD-MODEL.adrec",
    takes="FILE",
)

KINDS = (SIMULATED, EMULATED, VIRTUAL, HARDWARE, LEASED, RECORDED)
"""The kinds of this package, in the order of listings."""

AT = "@"
"""Between the type of a board and the name of one of a rig: ``apollo4p_evb@lab3-a``."""

BY_NAME = "name:"
"""Before the name of a board of the rig, as ``--evb`` takes it."""

_BY_PREFIX = {kind.prefix: kind for kind in KINDS}
_BY_NAME = {kind.name: kind for kind in KINDS}


def split(board_id: str) -> tuple[str, str]:
    """The prefix of what a user typed, with its colon, and the name; that of one of a rig is its
    type's.
    """
    for kind in (RECORDED, LEASED):  # a path, or a place, may have colons
        if board_id.startswith(kind.prefix):
            return kind.prefix, board_id.removeprefix(kind.prefix)
    prefix, colon, name = board_id.partition(AT)[0].rpartition(":")
    return prefix + colon, name


def kind_of(board_id: str) -> Kind:
    """The kind of a board that a user typed. Raises UnknownBoard, BrokenKind, RecordingError.

    That of a recording is the board's own. Installed packages are asked only for a prefix that is
    none of ours.
    """
    prefix, name = split(board_id)
    if prefix == RECORDED.prefix:
        from pytest_autodeploy.catalog.recording import kind_of_recording

        return kind_of_recording(Path(name), RECORDED, all_kinds())
    if prefix in _BY_PREFIX:
        return _BY_PREFIX[prefix]
    from pytest_autodeploy.catalog.boards import UnknownBoard
    from pytest_autodeploy.catalog.plugged import names, plugged

    if prefix[:-1] in names():
        return plugged(prefix[:-1])
    raise UnknownBoard(f"unknown kind of board {board_id!r}", hint=syntax(*names()))


def all_kinds() -> tuple[Kind, ...]:
    """Our kinds and those of installed packages, for a listing. Raises BrokenKind."""
    from pytest_autodeploy.catalog.plugged import names, plugged

    return (*KINDS, *(plugged(name) for name in names() if f"{name}:" not in _BY_PREFIX))


def spec_of(board_id: str) -> BoardSpec:
    """The entry of the catalog for a board that a user typed.

    Raises UnknownBoard, with the name that may have been meant.
    """
    from pytest_autodeploy.catalog import boards

    kind, (prefix, name) = kind_of(board_id), split(board_id)
    if prefix == RECORDED.prefix:
        from pytest_autodeploy.catalog.recording import head_of

        return boards.board_spec(head_of(Path(name)).board, kind.part)
    if prefix == LEASED.prefix:
        from pytest_autodeploy.catalog.places import type_at

        return boards.board_spec(type_at(name))
    try:
        return boards.board_spec(name, kind.part)
    except boards.RefusedBoard:
        raise
    except boards.UnknownBoard as error:
        near = boards.closest(name, kind.part)
        meant = f"Did you mean {kind.prefix}{near}? " if near else ""
        known = ", ".join(kind.prefix + each for each in boards.board_names(kind.part))
        hint = f"{meant}Boards: {known}"
        raise boards.UnknownBoard(f"unknown board {board_id!r}", hint=hint) from error


def syntax(*plugged: str) -> str:
    """How boards of each kind are typed, as a sentence; ``plugged`` are names of further kinds."""
    kinds = sorted(KINDS, key=lambda kind: kind.prefix != "")
    shown = [f"{kind.shown} {'is ' if not kind.prefix else ''}{kind.noun}" for kind in kinds]
    return f"{', '.join([*shown, *(f'{name}:NAME' for name in plugged)])}."


def real_kind(spec: BoardSpec) -> Kind:
    """The kind of the very board that an entry of the catalog is about."""
    return next(kind for kind in KINDS if kind.part == spec.part and not kind.stands_in)


def real_id(spec: BoardSpec) -> str:
    """What a user types for the very board that an entry of the catalog is about."""
    return f"{real_kind(spec).prefix}{spec.name}"


def answering_kind(board_id: str, answered: str) -> Kind:
    """The kind of a board by what the user typed; behind an EVB's name, by what it says it is.

    ``answered`` is one of ``ANSWERS``: an emulated board may be attached to in an EVB's place.
    """
    asked = kind_of(board_id)
    return _BY_NAME[answered] if asked.is_hardware else asked
