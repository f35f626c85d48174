"""Operators that are changed in a process that may crash, until the time is over."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from pytest_autodeploy.base.closable import Closing
from pytest_autodeploy.base.errors import MissingExtra, ReferenceFailed
from pytest_autodeploy.base.kernel_paths import TFLM_PATH
from pytest_autodeploy.base.versions import installed_version
from pytest_autodeploy.diagnosis.sensitivity.sensitivity import (
    ChangeNoticed,
    OperatorSensitivity,
)
from pytest_autodeploy.diagnosis.sensitivity.worker import PROGRAM
from pytest_autodeploy.reference.messages import encode
from pytest_autodeploy.reference.process import PathFailed, Process
from pytest_autodeploy.sim.pieces import main_operators

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_autodeploy.limits.tolerance import Tolerance
    from pytest_autodeploy.model.graph import Model
    from pytest_autodeploy.reference.inputs import Inputs

    ByPath = Mapping[str, Sequence[NDArray[Any]]]

NO_TIME = "the time was over"


def engine() -> str:
    """TFLM on this PC, with the version of its package. Raises MissingExtra."""
    if importlib.util.find_spec("tflite_micro") is None:
        raise MissingExtra("what inputs would notice", "sim")
    return f"tflite-micro {installed_version('tflite-micro')}"


class Probing(Closing):
    """Changes operators of a model in a process, until the time is over."""

    def __init__(
        self, model: Model, tolerance: Tolerance, *, reset_each: bool, seconds: float
    ) -> None:
        engine()
        self._model = model
        self._body = main_operators(model)
        self._tolerance = tolerance
        self._reset_each = reset_each
        self._until = time.monotonic() + seconds
        self._process = Process(model, (), seconds, PROGRAM)
        self._clean: tuple[dict[str, Any], list[bytes]] = {}, []
        self._prepared: int | None = None

    @property
    def over(self) -> bool:
        """Whether the time is over."""
        return time.monotonic() >= self._until

    def take(self, inputs: Inputs, by_path: ByPath) -> tuple[int, ...]:
        """Run the right model on the inputs from now on; gives the inferences that fail already.

        Raises ReferenceFailed.
        """
        pinned = self._tolerance.reference
        paths = list(by_path) if pinned == "auto" else [pinned]
        arrays = [*inputs.arrays, *(array for path in paths for array in by_path[path])]
        details = {
            "paths": paths,
            "reset": self._reset_each,
            "tolerance": asdict(self._tolerance),
        }
        self._clean = details, [encode(array) for array in arrays]
        self._prepared = None
        try:
            return self._prepare()
        except PathFailed as reason:
            raise ReferenceFailed(
                f"TFLM on this PC cannot run {self._model.name}: {reason}",
                hint="what the inputs would notice is not known",
            ) from None

    def operator(
        self, position: int, changes: Sequence[str], *, each: bool = False
    ) -> OperatorSensitivity:
        """What the inputs notice of one operator."""
        name = self._body[position].name
        if self.over:
            return OperatorSensitivity(position, name, {}, NO_TIME)
        try:
            self._prepare()
            header, _ = self._process.ask(
                "probe", TFLM_PATH, (), self._until, position=position, changes=changes, each=each
            )
        except PathFailed as reason:
            return OperatorSensitivity(position, name, {}, str(reason))
        except ReferenceFailed as error:
            return OperatorSensitivity(position, name, {}, NO_TIME if self.over else error.what)
        found = {
            change: ChangeNoticed(tuple(map(tuple, by))) for change, by in header["found"].items()
        }
        return OperatorSensitivity(position, name, found)

    def close(self) -> None:
        """End the process. Idempotent."""
        self._process.close()

    def _prepare(self) -> tuple[int, ...]:
        """Run the right model, in a process that has not done so: the last one may have crashed."""
        self._process.start()
        if self._prepared == self._process.pid:
            return ()
        details, payloads = self._clean
        header, _ = self._process.ask("clean", TFLM_PATH, payloads, self._until, **details)
        self._prepared = self._process.pid
        return tuple(header["doubtful"])
