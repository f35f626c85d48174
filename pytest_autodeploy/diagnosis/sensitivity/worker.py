"""The child program that changes operators: TFLM may crash on what it is handed.

Requests: ``model`` (payload: the file; no reply); ``clean`` (payloads: a batch for each input, then
what every path of the PC gives, output by output; reply: the ``doubtful`` inferences, which are
beyond the tolerance already); ``probe`` the operator at a ``position`` with ``changes`` (reply:
what ``Prober.probe`` has ``found``). A reply with ``error`` is a refusal.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_autodeploy.base.errors import ModelError
from pytest_autodeploy.diagnosis.sensitivity.prober import Prober
from pytest_autodeploy.diagnosis.sensitivity.verdict import Verdict
from pytest_autodeploy.limits.tolerance import Tolerance
from pytest_autodeploy.model.parse import parse
from pytest_autodeploy.reference.messages import decode
from pytest_autodeploy.reference.worker import serve

if TYPE_CHECKING:
    from pytest_autodeploy.model.graph import Model
    from pytest_autodeploy.reference.messages import Header, Message

PROGRAM = "pytest_autodeploy.diagnosis.sensitivity.worker"


class Worker:
    """Answers requests about one model and one set of inputs."""

    def __init__(self) -> None:
        self._model: Model | None = None
        self._prober: Prober | None = None
        self._verdict: Verdict | None = None

    def answer(self, header: Header, payloads: list[bytes]) -> Iterator[Message]:
        """The replies to a request."""
        tasks = {"model": self._take, "clean": self._clean, "probe": self._probe}
        try:
            yield from tasks[header["op"]](header, payloads)
        except ModelError as error:
            yield {"error": error.what}, []
        except Exception as error:
            yield {"error": str(error) or type(error).__name__}, []

    def _take(self, _header: Header, payloads: list[bytes]) -> Iterator[Message]:
        self._model = parse(Path("model"), payloads[0])
        yield from ()

    def _clean(self, header: Header, payloads: list[bytes]) -> Iterator[Message]:
        assert self._model is not None
        arrays = [decode(payload) for payload in payloads]
        count, tensors = len(self._model.inputs), self._model.outputs
        outputs = iter(arrays[count:])
        by_path = {path: [next(outputs) for _ in tensors] for path in header["paths"]}
        self._prober = Prober(self._model, arrays[:count], reset_each=header["reset"])
        tolerance = Tolerance(**header["tolerance"])
        self._verdict = Verdict(tensors, by_path, self._prober.outputs, tolerance)
        yield {"doubtful": self._verdict.doubtful}, []

    def _probe(self, header: Header, _payloads: list[bytes]) -> Iterator[Message]:
        assert self._prober is not None
        assert self._verdict is not None
        position, changes = header["position"], header["changes"]
        found = self._prober.probe(position, changes, self._verdict, each=header["each"])
        yield {"found": found}, []


def main() -> None:
    """Serve one model's operators."""
    serve(Worker().answer)


if __name__ == "__main__":
    main()
