"""Intermediate tensors of a model on the PC: which there are, and their values batch by batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pytest_autodeploy.reference.messages import decode

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_autodeploy.model.graph import Model
    from pytest_autodeploy.reference.messages import Message


def made_tensors(model: Model, tensors: Sequence[int] | None) -> list[int]:
    """The tensors that operators of subgraph 0 make and numpy has a type for, or some of them.

    In the order in which they are made. Raises ValueError for one that no operator makes.
    """
    made = {
        tensor.index: tensor
        for operator in model.operators
        if operator.subgraph == 0
        for tensor in operator.outputs
    }
    unknown = sorted(set(tensors or ()) - set(made))
    if unknown:
        raise ValueError(f"{model.name}: no operator of its subgraph 0 makes tensor {unknown[0]}")
    chosen = made if tensors is None else tensors
    return [index for index in made if index in chosen and _is_numpy(made[index].dtype)]


def _is_numpy(dtype: str) -> bool:
    import numpy as np

    try:
        np.dtype(dtype)
    except TypeError:
        return False
    return True


class Collected:
    """Arrays (count, *tensor shape) by tensor index, filled by the replies as they come."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._filled = 0
        self.arrays: dict[int, NDArray[Any]] = {}

    def add(self, reply: Message) -> bool:
        """Take the values of some inferences; whether more are to come."""
        import numpy as np

        header, payloads = reply
        size = 0
        for index, batch in zip(header["indices"], map(decode, payloads), strict=True):
            size = len(batch)
            if index not in self.arrays:
                self.arrays[index] = np.empty((self._count, *batch.shape[1:]), batch.dtype)
            self.arrays[index][self._filled : self._filled + size] = batch
        self._filled += size
        return bool(header["more"])
