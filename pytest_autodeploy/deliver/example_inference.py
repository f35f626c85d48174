"""The one inference of a run that examples repeat, and how near the PC its outputs have to be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pytest_autodeploy.deliver.characterization import Example, ExampleTensor, Unit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_autodeploy.limits.tolerance import Tolerance
    from pytest_autodeploy.model.graph import Model, Tensor
    from pytest_autodeploy.session.measured import RunResult

    Arrays = Sequence[NDArray[Any]]


def example_of(
    model: Model,
    run: RunResult,
    by_path: Mapping[str, Arrays],
    tolerance: Tolerance,
    noticed: Sequence[int] = (),
) -> Example:
    """The inference of a run that tells most, with the outputs of the path it is nearest to.

    ``noticed``: of each inference, how many wrong operators it would notice, as far as it is known.
    """
    at = 0 if model.stateful and not run.reset_each else most_telling(run.outputs, noticed)
    path = _nearest(model, run.outputs, by_path, tolerance, at)
    return Example(
        inputs=tuple(
            ExampleTensor(tensor.name, tensor.dtype, array.shape[1:], _stored(array[at]))
            for tensor, array in zip(model.inputs, run.inputs.arrays, strict=True)
        ),
        outputs=tuple(
            _expected(tensor, array, tolerance, at)
            for tensor, array in zip(model.outputs, by_path[path], strict=True)
        ),
        path=path,
        origin=f"{run.inputs.origin}, inference {at}",
        seed=run.inputs.seed,
    )


def most_telling(outputs: Arrays, noticed: Sequence[int] = ()) -> int:
    """The inference that has ``noticed`` most; of equals, and where that is not known, the fewest
    integers at the end of their type's range.

    A classifier that is certain gives nothing else, and hides what is wrong before its last layer.
    Of equals it is the one with more different values, then the first.
    """
    import numpy as np

    def tells(at: int) -> tuple[int, int, int]:
        samples = [array[at] for array in outputs]
        values = sum(np.unique(sample).size for sample in samples)
        return noticed[at] if noticed else 0, sum(map(_inside, samples)), values

    return max(range(len(outputs[0])), key=tells)


def _inside(sample: NDArray[Any]) -> int:
    """How many elements are not at the end of their type's range, which floats do not have."""
    import numpy as np

    if sample.dtype.kind not in "iu":
        return 0
    ends = np.iinfo(sample.dtype)
    return int(np.count_nonzero((sample > ends.min) & (sample < ends.max)))


def _nearest(
    model: Model, outputs: Arrays, by_path: Mapping[str, Arrays], tolerance: Tolerance, at: int
) -> str:
    """The path that this inference passes with, as ``compare`` chooses it.

    What is allowed may depend on all inferences, so all of them are looked at.
    """
    from pytest_autodeploy.reference import metrics

    def share(path: str) -> float:
        worst = 0.0
        for tensor, board, pc in zip(model.outputs, outputs, by_path[path], strict=True):
            apart = metrics.judged(tensor, metrics.distances(board, pc), tolerance)
            shares = metrics.shares_of_limit(apart, metrics.limits(tensor, pc, tolerance))
            worst = max(worst, float(shares[at].max(initial=0)))
        return worst

    return min(by_path if tolerance.reference == "auto" else [tolerance.reference], key=share)


def _expected(tensor: Tensor, pc: NDArray[Any], tolerance: Tolerance, at: int) -> ExampleTensor:
    unit, atol, rtol = _limit(tensor, pc, tolerance, at)
    return ExampleTensor(
        tensor.name,
        tensor.dtype,
        pc.shape[1:],
        _stored(pc[at]),
        unit,
        atol,
        rtol,
        tolerance.text(tensor.dtype),
    )


def _limit(
    tensor: Tensor, pc: NDArray[Any], tolerance: Tolerance, at: int
) -> tuple[Unit, float, float]:
    """Unit, atol and rtol of an output; a limit that is a share of the peak becomes an atol."""
    from pytest_autodeploy.reference import metrics

    if tolerance.elementwise and not tolerance.in_steps(tensor.dtype):
        slack = 1.0 if "float" in tensor.dtype else 1.0 + metrics.SCALE_ROUNDING
        return "real", slack * (tolerance.atol or 0.0), slack * (tolerance.rtol or 0.0)
    limit = float(metrics.limits(tensor, pc, tolerance)[at].max(initial=0))
    return "steps" if tolerance.in_steps(tensor.dtype) else "real", limit, 0.0


def _stored(sample: NDArray[Any]) -> bytes:
    """Little-endian and in C order."""
    data: bytes = sample.astype(sample.dtype.newbyteorder("<")).tobytes()
    return data
