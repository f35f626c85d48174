"""Checks of the indices, offsets and lengths that a host gives."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_autodeploy.rpc.messages import Status, TensorInfo
from pytest_autodeploy.rpc.service import Refused


def at(tensors: Sequence[TensorInfo], index: int, what: str) -> TensorInfo:
    """The tensor at an index. Raises Refused."""
    if index >= len(tensors):
        raise Refused(Status.BAD_ARGUMENT, f"{what} {index} of {len(tensors)}")
    return tensors[index]


def check_range(what: str, info: TensorInfo, offset: int, length: int) -> None:
    """Raise Refused when these bytes exceed the tensor."""
    if offset + length > info.size_bytes:
        end = offset + length
        raise Refused(
            Status.BAD_ARGUMENT, f"{what} has {info.size_bytes} bytes, not bytes {offset} to {end}"
        )
