"""The least arena that a model can need, from lifetimes and sizes of its tensors alone."""

from __future__ import annotations

from itertools import accumulate

from pytest_autodeploy.model.graph import Model


def least_arena_bytes(model: Model) -> int:
    """Bytes of the tensors of the main subgraph that are alive at once, where they are the most.

    An input lives from the start, any other tensor from the operator that makes it, to the last
    operator that reads it; outputs and variables live to the end. No arena can be smaller; TFLM
    adds its own structures, the kernels' buffers and the other subgraphs, which no file tells.
    Dimensions that are not known count as 1.
    """
    operators = [operator for operator in model.operators if operator.subgraph == 0]
    end = max(len(operators) - 1, 0)
    alive = {tensor.index: (0, 0, tensor.bytes) for tensor in model.inputs}
    for step, operator in enumerate(operators):
        for tensor in (*filter(None, operator.inputs), *operator.outputs):
            if not tensor.constant:
                first = alive.get(tensor.index, (0 if tensor.variable else step,))[0]
                alive[tensor.index] = (first, end if tensor.variable else step, tensor.bytes)
    for tensor in model.outputs:
        if tensor.index in alive:
            alive[tensor.index] = (alive[tensor.index][0], end, tensor.bytes)
    changes = [0] * (end + 2)
    for first, last, size in alive.values():
        changes[first] += size
        changes[last + 1] -= size
    return max(accumulate(changes))
