"""Characterising a model: what a session measures, and one of its inferences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_autodeploy.base.versions import installed_version
from pytest_autodeploy.catalog.fit import place
from pytest_autodeploy.deliver.characterization import Characterization, Place, details_of
from pytest_autodeploy.deliver.dtypes import c_type
from pytest_autodeploy.deliver.errors import OutputsDiffer
from pytest_autodeploy.deliver.example_inference import example_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_autodeploy.limits.tolerance import Tolerance
    from pytest_autodeploy.reference.runner import Outputs, Reference
    from pytest_autodeploy.session.measured import RunResult, TunedArena
    from pytest_autodeploy.session.model_session import ModelSession


def characterize(
    session: ModelSession,
    reference: Reference,
    tolerance: Tolerance,
    arena: TunedArena | None = None,
    *,
    probe: bool = False,
) -> Characterization:
    """Characterise the session's model, with what its test has measured or by measuring it now.

    ``arena`` is what an earlier test has found. The example is the inference of the run that tells
    most, as ``example_of`` chooses it; with ``probe``, which takes seconds, the one that notices
    most operators when TFLM on this PC changes them. Raises OutputsDiffer when outputs are not
    within the tolerance of the PC's in every inference, DeliveryError when they have a type that C
    lacks, and BoardError.
    """
    from pytest_autodeploy.reference.compare import compare, describe

    model = session.model
    for tensor in (*model.inputs, *model.outputs):
        c_type(tensor.dtype, tensor.name)
    run = session.measured.run or session.run()
    by_path = reference.run(run.inputs, reset_each=run.reset_each)
    agreement = compare(model, run.outputs, by_path, tolerance, failed_paths=reference.failed_paths)
    if not agreement.passed:
        raise OutputsDiffer(
            f"{model.name} on {session.board.id}: outputs differ from the PC's: "
            f"{describe(agreement)}",
            hint="find out why, or allow more with --tflite-tolerance",
        )
    noticed = _noticed(session, run, by_path, tolerance) if probe else ()
    arena = arena or session.measured.arena or session.tune_arena()
    return Characterization(
        details=details_of(model),
        arena_bytes=arena.arena_bytes,
        arena_used_bytes=session.state.arena_used_bytes,
        resource_variables=model.resource_variables,
        resolver_methods=model.resolver_methods,
        place=_place(session, arena.arena_bytes),
        example=example_of(model, run, by_path, tolerance, noticed),
        agreement=f"{describe(agreement)}, inferences: {agreement.count}",
        tool_version=installed_version("pytest-autodeploy"),
    )


def _noticed(
    session: ModelSession, run: RunResult, by_path: Outputs, tolerance: Tolerance
) -> Sequence[int]:
    """What each inference notices; nothing where the example has to be the first one anyway."""
    from pytest_autodeploy.diagnosis.sensitivity.by_inference import noticed_by_each

    if run.inputs.count < 2 or (session.model.stateful and not run.reset_each):
        return ()
    return noticed_by_each(
        session.model,
        run.inputs,
        by_path,
        tolerance,
        reset_each=run.reset_each,
        progress=session.progress,
    )


def _place(session: ModelSession, arena_bytes: int) -> Place:
    identity, spec = session.identity, session.board.spec
    placement = session.placement or place(spec, session.model.size_bytes, arena_bytes)
    return Place(
        board=session.board.id,
        name=spec.name,
        core=spec.core,
        source=session.source,
        engine=identity.engine,
        engine_version=identity.engine_version,
        build_id=identity.build_id,
        clock=session.clock,
        model_memory=placement.model_memory,
        arena_memory=placement.arena_memory,
    )
