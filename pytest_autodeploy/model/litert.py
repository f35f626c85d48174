"""What LiteRT gets of a model that it refuses for a field to which TFLM does not look."""

from __future__ import annotations

import struct

from pytest_autodeploy.model.flatbuffer import FIELDS, Damaged, Flatbuffer, Table
from pytest_autodeploy.model.graph import Model


def litert_content(model: Model) -> bytes:
    """The file, with ``quantized_dimension`` 0 wherever it is no dimension of the tensor.

    Some converters write the axis of a filter to its bias, which has one dimension only. The
    file itself is not changed.
    """
    try:
        places = _misplaced_axes(model.content)
    except Damaged:  # LiteRT tells what it makes of it
        return model.content
    if not places:
        return model.content
    content = bytearray(model.content)
    for place in places:
        struct.pack_into("<i", content, place, 0)
    return bytes(content)


def _misplaced_axes(content: bytes) -> list[int]:
    """Where in the file the axes are that no tensor has."""
    root = Flatbuffer(content).root("Model")
    return [
        place
        for subgraph in root.tables("subgraphs", "SubGraph")
        for tensor in subgraph.tables("tensors", "Tensor")
        for place in _misplaced(tensor)
    ]


def _misplaced(tensor: Table) -> list[int]:
    quantization = tensor.table("quantization", FIELDS["Quantization"])
    place = quantization.place("axis") if quantization else None
    if quantization is None or place is None:
        return []
    rank = len(tensor.wholes("shape"))
    return [] if 0 <= quantization.whole("axis", "i") < max(rank, 1) else [place]
