"""Messages between the reference and its child process.

A message is a line of JSON, whose ``sizes`` are the bytes of the payloads that follow it; payloads
are arrays in .npy format, or the content of a model.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from numpy.typing import NDArray

Header = dict[str, Any]
Message = tuple[Header, list[bytes]]


def write_message(
    stream: BinaryIO, header: Mapping[str, Any], payloads: Sequence[bytes] = ()
) -> None:
    """Write one message and flush."""
    line = json.dumps({**header, "sizes": [len(payload) for payload in payloads]})
    stream.write(line.encode() + b"\n")
    for payload in payloads:
        stream.write(payload)
    stream.flush()


def read_message(stream: BinaryIO) -> Message:
    """Read one message. Raises EOFError when the other side went away, in a message or before."""
    line = stream.readline()
    if not line.endswith(b"\n"):
        raise EOFError
    header: Header = json.loads(line)
    return header, [_exactly(stream, size) for size in header["sizes"]]


def _exactly(stream: BinaryIO, size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return data


def encode(array: NDArray[Any]) -> bytes:
    """The array in .npy format."""
    import numpy as np

    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def decode(payload: bytes) -> NDArray[Any]:
    """The array of a payload in .npy format."""
    import numpy as np

    array: NDArray[Any] = np.load(io.BytesIO(payload), allow_pickle=False)
    return array
