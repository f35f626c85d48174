"""The sides of the PC: LiteRT's sets of kernels and TFLM, with what they give in every operator."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pytest_autodeploy.base.closable import Closing
from pytest_autodeploy.base.errors import ReferenceFailed
from pytest_autodeploy.base.kernel_paths import LITERT_PATHS, TENSOR_PATHS, TFLM_PATH
from pytest_autodeploy.diagnosis.alone import OperatorsAlone, any_alone, operators_alone
from pytest_autodeploy.reference.inputs import Inputs
from pytest_autodeploy.reference.runner import Outputs, Reference

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_autodeploy.model.graph import Model

    Values = dict[int, NDArray[Any]]

LEAST_S = 10.0
"""What a run on the PC gets even when the time of the explanation is over."""


class PcSides(Closing):
    """Runs a model on every side of the PC until ``until`` (of ``time.monotonic``).

    ``counting``: paths beside LiteRT's that have to run, such as ``tensorflow``. ``missing`` tells
    the sides that could not run, and why; ``silent`` those whose tensors could not be read.
    """

    def __init__(self, model: Model, until: float, counting: Sequence[str] = ()) -> None:
        self.missing: dict[str, str] = {}
        self.silent: dict[str, str] = {}
        self._model = model
        self._until = until
        self._paths = tuple(dict.fromkeys((*LITERT_PATHS, *counting)))
        if importlib.util.find_spec("tflite_micro") is None:
            self.missing["TFLM on the PC"] = "it needs pip install 'pytest-autodeploy[sim]'"
        else:
            self._paths = (*self._paths, TFLM_PATH)
        self._reference = self._reference_of(model)
        self._alone: tuple[OperatorsAlone, Reference] | None = None

    def close(self) -> None:
        """End the processes."""
        self._reference.close()
        if self._alone is not None:
            self._alone[1].close()

    def outputs(self, inputs: Inputs, *, reset_each: bool = False) -> Outputs:
        """Per side, one array (n, *tensor shape) per output. Raises ReferenceFailed."""
        options = {"reset_each": True} if reset_each else {}
        outputs = self._reference.run(inputs, **options)
        for path, why in self._reference.failed_paths.items():
            self.missing["TFLM on the PC" if path == TFLM_PATH else path] = why
        return outputs

    def tensors(self, side: str, inputs: Inputs) -> Values:
        """What operators gave in the last of the inferences, by tensor; arrays (1, *shape).

        Nothing of a side that does not give its tensors.
        """
        if side not in TENSOR_PATHS:
            return {}
        try:
            tensors = self._reference.run_tensors(inputs, side)
        except ReferenceFailed as error:
            self.silent[side] = error.what
            return {}
        return {index: value[-1:] for index, value in tensors.items()}

    def alone(self, sides: Sequence[str], values: Mapping[int, NDArray[Any]]) -> dict[str, Values]:
        """Per side, what each operator gives when it is handed these values of its inputs.

        Values are arrays (1, *tensor shape); operators of which an input has none are left out.
        Raises ReferenceFailed and ModelError.
        """
        import numpy as np

        if not any_alone(self._model):
            return {}
        if self._alone is None:
            parted = operators_alone(self._model)
            self._alone = parted, self._reference_of(parted.model)
        parted, reference = self._alone
        arrays = [
            values.get(tensor.index, np.zeros((1, *tensor.shape), tensor.dtype))
            for tensor in parted.reads
        ]
        outputs = reference.run(Inputs(tuple(arrays), "what the other side gave"))
        made = {tensor for tensor, reads in parted.makes.items() if reads <= set(values)}
        return {
            side: {
                tensor.index: array
                for tensor, array in zip(parted.makes, outputs[side], strict=True)
                if tensor in made
            }
            for side in sides
            if side in outputs
        }

    def _reference_of(self, model: Model) -> Reference:
        remaining = max(LEAST_S, self._until - time.monotonic())
        return Reference(model, paths=self._paths, timeout_s=remaining)
