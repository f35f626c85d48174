"""What a model's file says, what a board says of itself, and what it went through."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_autodeploy.base.measurement import Source
from pytest_autodeploy.board.again import Again as Again
from pytest_autodeploy.board.use import BoardUse as BoardUse
from pytest_autodeploy.model.tested import tested_text
from pytest_autodeploy.npu.results import Unavailable
from pytest_autodeploy.rpc.messages import Capability

if TYPE_CHECKING:
    from pytest_autodeploy.model.graph import Model
    from pytest_autodeploy.npu.results import Estimate
    from pytest_autodeploy.session.model_session import ModelSession
    from pytest_autodeploy.session.over_pins import PinsRun


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
    ``origin``: how it was converted, if it was; ``tested``: which of several entries is tested.
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
    origin: str = ""
    tested: str = ""


@dataclass(frozen=True)
class BoardFacts:
    """What a board says of itself; of one that did not answer, what was asked for.

    ``kind`` is that of ``catalog``, or ``estimate`` of an accelerator in a board's place. ``clock``
    is its mode, HP or LP, and ``clock_hz`` what that is. ``source`` is that of figures that are
    measured on it. ``id`` is None of a test without a board. The memories are where the image has
    the model and its arena, ``image_sha256`` is of a file that a virtual board runs. ``serial``
    tells equal boards apart: it is that of the probe; ``rig_name`` is its name in the rig file.
    ``recorded`` says when and from which board answers were recorded, None where a board answered.
    ``model_loaded``: the image has no model, and the host loaded it over the link into
    ``model_memory``.

    ``measured_hz`` is the core's clock as the board measured it, ``reset_cause`` why it started
    last (such as ``power on``, ``fault``), ``failed_step`` the step of its start-up that failed;
    None where the board does not know, or all is well. ``clock_doubt``: why times are not those of
    the clock mode.
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
    model_memory: str | None = None
    arena_memory: str | None = None
    image_sha256: str | None = None
    measured_hz: int | None = None
    reset_cause: str | None = None
    failed_step: str | None = None
    clock_doubt: str | None = None
    serial: str | None = None
    recorded: str | None = None
    model_loaded: bool = False
    rig_name: str | None = None

    @property
    def one(self) -> str | None:
        """Which one of a type it was: by its serial number, else by its name in the rig."""
        return self.serial or self.rig_name

    @property
    def label(self) -> str:
        """What reports call it: its id, and which one of a rig it was, such as ``…_evb@lab3-a``."""
        board = self.id or ""
        return f"{board}@{self.rig_name}" if self.rig_name and "@" not in board else board


NO_BOARD = BoardFacts()
"""Of a test without a board."""


def model_facts(model_id: str, model: Model, file: str) -> ModelFacts:
    """What the file of a model says; ``file`` is its path as a shared file may hold it."""
    return ModelFacts(
        id=model_id,
        name=model.name,
        path=str(model.path),
        file=file,
        sha256=model.sha256,
        size_bytes=model.size_bytes,
        macs=model.macs,
        known_macs=model.known_macs,
        unknown_operators=tuple(model.unknown_operators),
        operators=len(model.operators),
        parameters=model.parameters,
        origin=model.origin,
        tested=tested_text(model),
        layers=tuple(
            StaticLayer(operator.index, operator.name, operator.macs)
            for operator in model.operators
            if operator.subgraph == 0
        ),
    )


def board_facts(session: ModelSession) -> BoardFacts:
    """What the board of a session says of itself."""
    identity, report = session.identity, session.report
    model_memory, arena_memory = _memories(session)
    return BoardFacts(
        model_memory=model_memory,
        arena_memory=arena_memory,
        model_loaded=_is_loaded(session),
        image_sha256=getattr(session.board, "image_sha256", None),
        serial=getattr(session.board, "serial", None),
        rig_name=getattr(session.board, "rig_name", None),
        id=session.board.id,
        clock=("HP" if identity.clock else "LP") if any(identity.clocks_hz) else None,
        name=identity.board,
        kind=session.kind.name,
        source=session.source,
        core=identity.core,
        engine=identity.engine,
        engine_version=identity.engine_version,
        build_id=identity.build_id,
        clock_hz=identity.clocks_hz[identity.clock] or None,
        port=session.board.port,
        measured_hz=report.clock_hz or None,
        reset_cause=report.reset_cause.text,
        failed_step=report.failed_step or None,
        clock_doubt=session.clock_doubt or None,
        recorded=session.kind.recorded or None,
    )


def _is_loaded(session: ModelSession) -> bool:
    return Capability.MODEL_UPLOAD in session.identity.capabilities


def _memories(session: ModelSession) -> tuple[str | None, str | None]:
    """Those of model and arena: of the image, or what the board says where it got its model."""
    if placement := session.placement:
        return placement.memories
    if not _is_loaded(session):
        return None, None
    said = {place.part: place.memory.lower() or None for place in session.report.placements}
    return said.get("model"), said.get("arena")


def pins_facts(run: PinsRun) -> BoardFacts:
    """What is known of a board that is asked nothing: its entry of the catalog, and the image."""
    energy = run.main or next(iter(run.energies.values()), None)
    clock = energy.mode if energy else run.clock
    return BoardFacts(
        id=run.board_id,
        clock=clock,
        name=run.spec.name,
        kind="hardware",
        source=energy.source if energy else None,
        core=run.spec.core,
        engine="power application, no RPC",
        clock_hz=run.spec.clocks_hz.get(clock),
        model_memory=run.placement.model_memory,
        arena_memory=run.placement.arena_memory,
    )


def accelerator_facts(estimate: Estimate) -> BoardFacts:
    """The accelerator in the place that a board has in a record."""
    hz = estimate.totals.core_clock_hz
    return BoardFacts(
        id=estimate.accelerator,
        clock=f"{estimate.system_config}, {estimate.memory_mode}",
        name=estimate.accelerator,
        kind="estimate",
        source="estimated",
        core=estimate.accelerator.rpartition("-")[0],
        engine=f"Vela ({estimate.provenance.core})",
        engine_version=estimate.provenance.vela_version,
        clock_hz=None if isinstance(hz, Unavailable) else hz,
    )
