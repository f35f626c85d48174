"""The child program of the reference: LiteRT, or TensorFlow, behind framed messages on its pipes.

It is run by its file name, so it imports nothing of this package and only what its task needs. A
message is a line of JSON, whose ``sizes`` are the bytes of the payloads that follow it. Requests:
``model`` (payload: the file; no reply), ``prepare`` and ``run`` of a ``path`` (payloads: one batch
per input in .npy format; reply: one batch per output). A reply with ``error`` is a refusal.
"""

from __future__ import annotations

import faulthandler
import io
import json
import os
import queue
import signal
import sys
import threading
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


def create(path: str, content: bytes) -> Any:
    """An interpreter of the kernel path, with its tensors allocated and its state fresh."""
    if path == "tensorflow":
        import tensorflow

        interpreter = tensorflow.lite.Interpreter(model_content=content, num_threads=1)
    else:
        from ai_edge_litert.interpreter import Interpreter, OpResolverType

        resolvers = {
            "ref": OpResolverType.BUILTIN_REF,
            "optimized": OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
            "xnnpack": OpResolverType.BUILTIN,
        }
        interpreter = Interpreter(
            model_content=content, experimental_op_resolver_type=resolvers[path], num_threads=1
        )
    interpreter.allocate_tensors()
    return interpreter


def infer(interpreter: Any, inputs: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    """One inference per sample, in order; one array of shape (n, *tensor shape) per output."""
    import numpy as np

    indices = [detail["index"] for detail in interpreter.get_input_details()]
    outputs = [detail["index"] for detail in interpreter.get_output_details()]
    results: list[list[NDArray[Any]]] = [[] for _ in outputs]
    for samples in zip(*inputs, strict=True):
        for index, sample in zip(indices, samples, strict=True):
            interpreter.set_tensor(index, sample)
        interpreter.invoke()
        for result, index in zip(results, outputs, strict=True):
            result.append(interpreter.get_tensor(index))
    return [np.stack(result) for result in results]


class Worker:
    """Answers requests about one model; every run starts from an interpreter that never ran."""

    def __init__(self) -> None:
        self._content = b""
        self._prepared: dict[str, Any] = {}

    def answer(self, header: Header, payloads: list[bytes]) -> Message | None:
        """The reply to a request; refusals of LiteRT become the ``error`` of a reply."""
        if header["op"] == "model":
            self._content = payloads[0]
            return None
        path = header["path"]
        try:
            interpreter = self._prepared.pop(path, None) or create(path, self._content)
            if header["op"] == "prepare":
                self._prepared[path] = interpreter
                return {}, []
            outputs = infer(interpreter, [decode(payload) for payload in payloads])
            return {}, [encode(output) for output in outputs]
        except Exception as error:
            return {"error": str(error) or type(error).__name__}, []


def _take_stdout() -> BinaryIO:
    """The pipe to the parent, for messages only: what else is printed goes to standard error."""
    stream = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return stream


def _read_requests(requests: queue.SimpleQueue[Message]) -> None:
    try:
        while True:
            requests.put(read_message(sys.stdin.buffer))
    except EOFError:
        os._exit(0)  # the parent is gone: end even in the middle of an inference


def main() -> None:
    """Serve until standard input closes."""
    replies = _take_stdout()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends this
    requests: queue.SimpleQueue[Message] = queue.SimpleQueue()
    threading.Thread(target=_read_requests, args=(requests,), daemon=True).start()
    worker = Worker()
    while True:
        header, payloads = requests.get()
        # For a parent that was killed while LiteRT hangs with the GIL held.
        faulthandler.dump_traceback_later(header["limit_s"], exit=True)
        reply = worker.answer(header, payloads)
        faulthandler.cancel_dump_traceback_later()
        if reply is not None:
            write_message(replies, *reply)


if __name__ == "__main__":
    main()
