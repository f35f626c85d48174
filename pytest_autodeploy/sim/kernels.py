"""What runs a model on the simulated board: TFLM's kernels, with the faults injected into them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_autodeploy.base.errors import ModelError
from pytest_autodeploy.rpc.messages import Status
from pytest_autodeploy.rpc.service import Log, Refused
from pytest_autodeploy.sim.engine import Engine
from pytest_autodeploy.sim.pieces import faults_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_autodeploy.sim.captured import CapturedStderr
    from pytest_autodeploy.sim.flash import Flash
    from pytest_autodeploy.sim.operator_fault import OperatorFault


@dataclass(frozen=True)
class Kernels:
    """TFLM's kernels with the ``faults`` of some operators; TFLM's words go to ``stderr``."""

    stderr: CapturedStderr
    faults: Sequence[OperatorFault] = ()

    def load(self, flash: Flash, arena_bytes: int, log: Log, *, keep: bool) -> Engine:
        """An engine with the model of the flash. Raises Refused."""
        if isinstance(flash.model, ModelError):
            raise Refused(Status.BAD_MODEL, str(flash.model))
        faults = faults_of(flash.model, self.faults, log)
        return Engine(
            flash.model, arena_bytes, log=log, stderr=self.stderr, keep=keep, faults=faults
        )
