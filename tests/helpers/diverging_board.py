"""Simulated boards with injected faults, and what is found out about them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pytest_autodeploy.base.kernel_paths import LITERT_PATHS
from pytest_autodeploy.board.simulated import SimulatedBoard
from pytest_autodeploy.catalog.boards import board_spec
from pytest_autodeploy.diagnosis.explain import explain
from pytest_autodeploy.diagnosis.explanation import Explanation
from pytest_autodeploy.image.image import Image
from pytest_autodeploy.model.graph import Model
from pytest_autodeploy.reference.compare import Tolerance, compare
from pytest_autodeploy.reference.inputs import random_inputs
from pytest_autodeploy.reference.runner import Outputs, Reference
from pytest_autodeploy.rpc.messages import Capability, Identity
from pytest_autodeploy.session.measured import RunResult
from pytest_autodeploy.session.model_session import ModelSession

BOARD = "sim:apollo4p_evb"

_KNOWN: dict[tuple[str, str, bool, tuple[str, ...]], Outputs] = {}


class WithoutTensors(SimulatedBoard):
    """A board that cannot keep its tensors."""

    def load(self, image: Image) -> Identity:
        identity = super().load(image)
        fewer = identity.capabilities & ~Capability.ANY_TENSOR
        return dataclasses.replace(identity, capabilities=fewer)


@contextmanager
def session_on(
    model: Model, *faults: str, kind: type[SimulatedBoard] = SimulatedBoard, inputs: int = 2
) -> Iterator[ModelSession]:
    """The session of a model on a simulated board with faults."""
    arguments = [part for fault in faults for part in ("--fault", fault)]
    spec = board_spec(BOARD.removeprefix("sim:"))
    board = kind(BOARD, spec, timeout_s=60, arguments=arguments)
    try:
        yield ModelSession(model, board, inputs=random_inputs(model, inputs, 1))
    finally:
        board.close()


def explained(
    session: ModelSession, tolerance: Tolerance | None = None, **options: Any
) -> Explanation:
    """Run the session's inputs and explain how the outputs differ from the PC's."""
    tolerance = tolerance or Tolerance(lsb=0)
    run = session.run()
    agreement = compare(session.model, run.outputs, _on_pc(session, run, tolerance), tolerance)
    return explain(session, run, agreement, tolerance, **options)


def _on_pc(session: ModelSession, run: RunResult, tolerance: Tolerance) -> Outputs:
    """What the PC computes: the same for all boards, so it is asked once for a model's inputs."""
    paths = LITERT_PATHS if tolerance.reference == "auto" else (tolerance.reference,)
    key = (session.model.sha256, run.inputs.sha256, run.reset_each, paths)
    if key not in _KNOWN:
        with Reference(session.model, paths=paths) as reference:
            _KNOWN[key] = reference.run(run.inputs, reset_each=run.reset_each)
    return _KNOWN[key]
