"""The child program of the reference: interpreters behind messages on its pipes.

Requests: ``model`` (payloads: the file, and what LiteRT gets of it; no reply); ``prepare`` a
``path``; ``run`` it (payloads: one batch for each input; reply: one batch for each output), with
``reset`` from a fresh state for each inference; ``try`` one inference on zeros (an empty reply);
give the ``tensors`` of these indices (replies: batches of some inferences, one payload for each
index in ``indices``, until a reply has no ``more``). A reply with ``error`` is a refusal.
"""

from __future__ import annotations

import faulthandler
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

from pytest_autodeploy.base import trace
from pytest_autodeploy.base.errors import BrokenPackage
from pytest_autodeploy.base.imports import leave_out_compression
from pytest_autodeploy.reference.interpreters import Interpreter, create
from pytest_autodeploy.reference.messages import (
    Header,
    Message,
    decode,
    encode,
    read_message,
    write_message,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Arrays = Sequence[NDArray[Any]]

REPLY_BYTES = 32 << 20
"""A reply with tensors goes out when it has so many bytes."""


class Worker:
    """Answers requests about one model; every run starts from an interpreter that never ran.

    Another model may follow.
    """

    def __init__(self) -> None:
        self._contents: dict[str, bytes] = {}
        self._prepared: dict[str, Interpreter] = {}

    def answer(self, header: Header, payloads: list[bytes]) -> Iterator[Message]:
        """The replies to a request; refusals of an interpreter become the ``error`` of a reply."""
        if header["op"] == "model":
            self._contents = dict(zip(("tflm", "litert"), payloads, strict=True))
            self._prepared.clear()  # of the model before
            return
        tasks = {
            "prepare": self._prepare,
            "run": self._run,
            "tensors": self._tensors,
            "try": self._try,
        }
        try:
            yield from tasks[header["op"]](header, [decode(payload) for payload in payloads])
        except BrokenPackage as error:
            yield {"error": error.reason, "package": error.package}, []
        except Exception as error:
            yield {"error": str(error) or type(error).__name__}, []

    def _prepare(self, header: Header, _inputs: Arrays) -> Iterator[Message]:
        self._prepared[header["path"]] = self._create(header["path"])
        yield {}, []

    def _try(self, header: Header, _inputs: Arrays) -> Iterator[Message]:
        interpreter = self._fresh(header["path"])
        interpreter.infer(interpreter.zeros())
        yield {}, []

    def _run(self, header: Header, inputs: Arrays) -> Iterator[Message]:
        interpreter = self._fresh(header["path"])
        results: list[Arrays] = []
        for samples in zip(*inputs, strict=True):
            if header["reset"] and results:
                interpreter = self._fresh(header["path"])
            interpreter.infer(samples)
            results.append(interpreter.outputs())
        yield {}, [encode(array) for array in _stack(results)]

    def _tensors(self, header: Header, inputs: Arrays) -> Iterator[Message]:
        path = header["path"]
        kept = self._create(path, keep=True)
        indices = kept.real(header["indices"], [batch[0] for batch in inputs])
        kept, plain = self._create(path, keep=True), self._fresh(path)
        results: list[Arrays] = []
        for samples in zip(*inputs, strict=True):
            kept.infer(samples)
            plain.infer(samples)
            _check_equal(kept.outputs(), plain.outputs())
            results.append([kept.tensor(index) for index in indices])
            if len(results) * sum(array.nbytes for array in results[-1]) >= REPLY_BYTES:
                yield _tensors_reply(indices, results, more=True)
                results = []
        yield _tensors_reply(indices, results, more=False)

    def _fresh(self, path: str) -> Interpreter:
        return self._prepared.pop(path, None) or self._create(path)

    def _create(self, path: str, *, keep: bool = False) -> Interpreter:
        content = self._contents["tflm" if path == "tflm" else "litert"]
        return create(path, content, keep=keep)


def _stack(results: Sequence[Arrays]) -> Arrays:
    """From one sequence of arrays for each inference to one array for each place in it."""
    import numpy as np

    return [np.stack(arrays) for arrays in zip(*results, strict=True)]


def _tensors_reply(indices: Sequence[int], results: Sequence[Arrays], *, more: bool) -> Message:
    batches = _stack(results)
    present = indices if batches else []
    return {"indices": present, "more": more}, [encode(array) for array in batches]


def _check_equal(kept: Arrays, plain: Arrays) -> None:
    """Kept tensors are those of this path only when keeping them changes nothing."""
    if [array.tobytes() for array in kept] != [array.tobytes() for array in plain]:
        raise RuntimeError("its outputs change when its tensors are kept")


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


def _what(header: Header) -> str:
    """A request as a trace shows it, such as ``run xnnpack``."""
    return f"{header['op']} {header.get('path', '')}".strip()


def serve(answer: Callable[[Header, list[bytes]], Iterable[Message]]) -> None:
    """Give the replies to each request until standard input closes."""
    trace.join("PC side")
    replies = _take_stdout()
    leave_out_compression()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends this
    requests: queue.SimpleQueue[Message] = queue.SimpleQueue()
    threading.Thread(target=_read_requests, args=(requests,), daemon=True).start()
    while True:
        header, payloads = requests.get()
        # For a parent that was killed while LiteRT hangs with the GIL held.
        faulthandler.dump_traceback_later(header["limit_s"], exit=True)
        with trace.span(_what(header)):
            for reply in answer(header, payloads):
                write_message(replies, *reply)
        faulthandler.cancel_dump_traceback_later()


def main() -> None:
    """Serve one model's interpreters."""
    serve(Worker().answer)


if __name__ == "__main__":
    main()
