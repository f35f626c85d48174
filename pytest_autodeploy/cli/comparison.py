"""A model on a board compared with the PC, and why they differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_autodeploy.diagnosis.explain import explain
from pytest_autodeploy.reference.compare import compare

if TYPE_CHECKING:
    from pytest_autodeploy.cli.bench import Bench
    from pytest_autodeploy.diagnosis.explanation import Explanation
    from pytest_autodeploy.limits.tolerance import Tolerance
    from pytest_autodeploy.reference.agreement import Agreement


def compare_sides(bench: Bench, tolerance: Tolerance) -> tuple[Agreement, Explanation]:
    """Run the session's inputs on both sides: how far they agree, and why they do not.

    Raises BoardError, ReferenceFailed, ModelError.
    """
    run = bench.session.run()
    reference = bench.runtime.pc.reference(bench.model)
    by_path = reference.run(run.inputs, reset_each=run.reset_each)
    failed = reference.failed_paths
    agreement = compare(bench.model, run.outputs, by_path, tolerance, failed_paths=failed)
    return agreement, explain(bench.session, run, agreement, tolerance)
