"""Characterising a model: what a session measures, and one inference as the PC computes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from pytest_autodeploy.board.fit import place
from pytest_autodeploy.deliver.characterization import (
    Characterization,
    Example,
    ExampleTensor,
    Place,
    Unit,
    details_of,
)
from pytest_autodeploy.deliver.dtypes import c_type
from pytest_autodeploy.deliver.errors import OutputsDiffer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_autodeploy.measured import RunResult
    from pytest_autodeploy.model.graph import Model, Tensor
    from pytest_autodeploy.reference.runner import Reference
    from pytest_autodeploy.reference.tolerance import Tolerance
    from pytest_autodeploy.session import ModelSession

    Arrays = Sequence[NDArray[Any]]


def characterize(
    session: ModelSession, reference: Reference, tolerance: Tolerance
) -> Characterization:
    """Characterise the session's model, with what its test has measured or by measuring it now.

    The example is the run's first inference, with the outputs of the kernel path that the board is
    nearest to. Raises OutputsDiffer when outputs are not within the tolerance of the PC's in every
    inference, DeliveryError when they have a type that C lacks, and BoardError.
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
    arena = session.measured.arena or session.tune_arena()
    return Characterization(
        details=details_of(model),
        arena_bytes=arena.arena_bytes,
        arena_used_bytes=session.state.arena_used_bytes,
        resource_variables=model.resource_variables,
        resolver_methods=model.resolver_methods,
        place=_place(session, arena.arena_bytes),
        example=_example(model, run, by_path, tolerance),
        agreement=f"{describe(agreement)}, inferences: {agreement.count}",
        tool_version=version("pytest-autodeploy"),
    )


def _place(session: ModelSession, arena_bytes: int) -> Place:
    identity, spec = session.identity, session.board.spec
    placement = place(spec, session.model.size_bytes, arena_bytes)
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


def _example(
    model: Model, run: RunResult, by_path: Mapping[str, Arrays], tolerance: Tolerance
) -> Example:
    path = _nearest(model, run.outputs, by_path, tolerance)
    return Example(
        inputs=tuple(
            ExampleTensor(tensor.name, tensor.dtype, array.shape[1:], _stored(array))
            for tensor, array in zip(model.inputs, run.inputs.arrays, strict=True)
        ),
        outputs=tuple(
            _expected(tensor, array, tolerance)
            for tensor, array in zip(model.outputs, by_path[path], strict=True)
        ),
        path=path,
        origin=run.inputs.origin,
        seed=run.inputs.seed,
    )


def _nearest(
    model: Model, outputs: Arrays, by_path: Mapping[str, Arrays], tolerance: Tolerance
) -> str:
    """The path that the first inference passes with, as ``compare`` chooses it.

    What is allowed may depend on all inferences, so all of them are looked at.
    """
    from pytest_autodeploy.reference import metrics

    def share(path: str) -> float:
        worst = 0.0
        for tensor, board, pc in zip(model.outputs, outputs, by_path[path], strict=True):
            apart = metrics.judged(tensor, metrics.distances(board, pc), tolerance)
            shares = metrics.shares_of_limit(apart, metrics.limits(tensor, pc, tolerance))
            worst = max(worst, float(shares[0].max(initial=0)))
        return worst

    return min(by_path if tolerance.reference == "auto" else [tolerance.reference], key=share)


def _expected(tensor: Tensor, pc: NDArray[Any], tolerance: Tolerance) -> ExampleTensor:
    unit, atol, rtol = _limit(tensor, pc, tolerance)
    return ExampleTensor(
        tensor.name,
        tensor.dtype,
        pc.shape[1:],
        _stored(pc),
        unit,
        atol,
        rtol,
        tolerance.words(tensor.dtype),
    )


def _limit(tensor: Tensor, pc: NDArray[Any], tolerance: Tolerance) -> tuple[Unit, float, float]:
    """Unit, atol and rtol of an output; a limit that is a share of the peak becomes an atol."""
    from pytest_autodeploy.reference import metrics

    if tolerance.elementwise and not tolerance.in_steps(tensor.dtype):
        slack = 1.0 if "float" in tensor.dtype else 1.0 + metrics.SCALE_ROUNDING
        return "real", slack * (tolerance.atol or 0.0), slack * (tolerance.rtol or 0.0)
    limit = float(metrics.limits(tensor, pc, tolerance)[0].max(initial=0))
    return "steps" if tolerance.in_steps(tensor.dtype) else "real", limit, 0.0


def _stored(array: NDArray[Any]) -> bytes:
    """The first sample, little-endian and in C order."""
    data: bytes = array[0].astype(array.dtype.newbyteorder("<")).tobytes()
    return data
