"""Intermediate tensors on the PC, by every path that gives them, and whatever goes wrong."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tflite_micro import runtime

from pytest_autodeploy.base.errors import MissingExtra, ReferenceFailed
from pytest_autodeploy.base.kernel_paths import TENSOR_PATHS
from pytest_autodeploy.model.cut import cut_model
from pytest_autodeploy.model.graph import Model
from pytest_autodeploy.model.load import load_model
from pytest_autodeploy.reference import interpreters, worker
from pytest_autodeploy.reference.inputs import random_inputs
from pytest_autodeploy.reference.interpreters import LiteRt, Tflm
from pytest_autodeploy.reference.messages import Message, encode
from pytest_autodeploy.reference.runner import Reference
from pytest_autodeploy.reference.tensors import Collected
from pytest_autodeploy.reference.worker import Worker
from tests.helpers.stopped_child import once_asked, pid_of, stop
from tests.helpers.support import DIGITS
from tests.helpers.tflite_builder import (
    add_two_inputs,
    endless_loop,
    running_sum,
    single_operator,
    tensor,
    without_kernel,
)

Array = np.ndarray[Any, Any]


@pytest.fixture
def digits() -> Model:
    return load_model(DIGITS)


@pytest.fixture
def adder(tmp_path: Path) -> Model:
    """Two float inputs, their sum."""
    return load(tmp_path, add_two_inputs("float32"))


def load(folder: Path, content: bytes) -> Model:
    path = folder / "small.tflite"
    path.write_bytes(content)
    return load_model(path)


def made(model: Model) -> list[int]:
    """Indices of what the operators of subgraph 0 make."""
    main = [operator for operator in model.operators if operator.subgraph == 0]
    return [tensor.index for operator in main for tensor in operator.outputs]


@pytest.mark.parametrize("path", TENSOR_PATHS)
def test_every_tensor_is_what_the_model_up_to_it_gives(digits: Model, path: str) -> None:
    inputs = random_inputs(digits, 3, 42)
    with Reference(digits) as reference:
        tensors = reference.run_tensors(inputs, path)
    assert list(tensors) == made(digits)
    for last in range(0, len(digits.operators), 3):
        part = cut_model(digits, 0, last)
        with Reference(part, paths=[path]) as reference:
            (outputs,) = reference.run(inputs).values()
        for output, values in zip(part.outputs, outputs, strict=True):
            assert np.array_equal(tensors[output.index], values), (path, last)


def test_only_the_tensors_that_were_asked_for_come(digits: Model) -> None:
    first, second, *_ = made(digits)
    with Reference(digits) as reference:
        tensors = reference.run_tensors(2, "ref", [second, first])
    assert {index: len(values) for index, values in tensors.items()} == {first: 2, second: 2}


@pytest.mark.parametrize("path", TENSOR_PATHS)
def test_state_is_kept_between_inferences_and_fresh_in_every_run(tmp_path: Path, path: str) -> None:
    model = load(tmp_path, running_sum())
    total = model.outputs[0].index
    ones = np.ones((3, 1, 4), np.float32)
    with Reference(model) as reference:
        for _ in range(2):
            sums = reference.run_tensors(ones, path)[total]
            assert sums[:, 0, 0].tolist() == [1, 2, 3]


def test_types_that_numpy_lacks_are_left_out(tmp_path: Path) -> None:
    model = load(tmp_path, running_sum())
    handle, old, new = made(model)
    with Reference(model) as reference:
        assert list(reference.run_tensors(1, "ref")) == [old, new]
        assert reference.run_tensors(1, "ref", [handle]) == {}


def test_a_run_before_and_after_is_the_same(adder: Model) -> None:
    with Reference(adder, paths=["ref"]) as reference:
        before = reference.run(3)["ref"][0]
        reference.run_tensors(3, "ref")
        reference._runs.clear()
        assert np.array_equal(reference.run(3)["ref"][0], before)


@pytest.mark.filterwarnings("ignore:.*preserve_all_tensors")
def test_tensors_that_a_delegate_hides_are_left_out(digits: Model) -> None:
    """An interpreter that does not keep them has much of the model in one operator of XNNPACK."""
    samples = [batch[0] for batch in random_inputs(digits, 1, 42).arrays]
    real = LiteRt("xnnpack", digits.content).real(made(digits), samples)
    assert digits.outputs[0].index in real
    assert len(real) < len(made(digits))
    kept = LiteRt("xnnpack", digits.content, keep=True).real(made(digits), samples)
    assert kept == made(digits)


def test_a_tensor_that_nothing_writes_is_not_real(tmp_path: Path) -> None:
    x, y, state = tensor((1, 4)), tensor((1, 4)), tensor((1, 4), variable=True)
    model = load(tmp_path, single_operator("ADD", [x, state], [y]))
    _, unwritten = model.operators[0].inputs
    assert unwritten is not None
    interpreter = LiteRt("ref", model.content, keep=True)
    samples = [np.ones((1, 4), np.float32)]
    assert interpreter.real([unwritten.index, *made(model)], samples) == made(model)


def test_an_arena_that_is_not_enough_is_followed_by_a_larger_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, y = tensor((1, 40_000)), tensor((1, 40_000))
    content = single_operator("RELU", [x], [y])
    tried: list[int] = []
    from_bytes = runtime.Interpreter.from_bytes

    def watched(content: bytes, registerers: list[str], arena_size: int, config: Any) -> Any:
        tried.append(arena_size)
        return from_bytes(content, registerers, arena_size, config)

    monkeypatch.setattr(runtime.Interpreter, "from_bytes", watched)
    monkeypatch.setattr(interpreters, "ARENAS", (64_000, 1_000_000, 2_000_000))
    Tflm(content)
    assert tried == [64_000, 1_000_000]


def answers(model: Model, count: int) -> list[Message]:
    """What the child would reply, without a child."""
    own = Worker()
    assert list(own.answer({"op": "model"}, [model.content, model.content])) == []
    payloads = [encode(array) for array in random_inputs(model, count, 42).arrays]
    request = {"op": "tensors", "path": "ref", "indices": made(model)}
    return list(own.answer(request, payloads))


def test_many_tensors_come_in_batches(digits: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Collected(5)
    (reply,) = answers(digits, 5)
    assert whole.add(reply) is False
    bytes_each = sum(values.nbytes for values in whole.arrays.values()) // 5
    monkeypatch.setattr(worker, "REPLY_BYTES", 2 * bytes_each)
    parts = Collected(5)
    assert [parts.add(reply) for reply in answers(digits, 5)] == [True, True, False]
    for index, values in whole.arrays.items():
        assert np.array_equal(parts.arrays[index], values)


def test_the_last_batch_may_be_full(digits: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "REPLY_BYTES", 1)
    collected = Collected(2)
    assert [collected.add(reply) for reply in answers(digits, 2)] == [True, True, False]
    assert {len(values) for values in collected.arrays.values()} == {2}


def test_outputs_that_change_when_tensors_are_kept_are_an_error(
    digits: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Changed(LiteRt):
        def __init__(self, path: str, content: bytes, *, keep: bool = False) -> None:
            super().__init__(path, content, keep=keep)
            self._off = int(keep)

        def outputs(self) -> list[Array]:
            return [output + output.dtype.type(self._off) for output in super().outputs()]

    monkeypatch.setattr(worker, "create", Changed)
    ((header, _),) = answers(digits, 1)
    assert header["error"] == "its outputs change when its tensors are kept"


@pytest.mark.parametrize("tensors", [[99], [-1], [0]], ids=["behind", "before", "an input"])
def test_a_tensor_that_no_operator_makes_is_an_error(adder: Model, tensors: Sequence[int]) -> None:
    message = f"small: no operator of its subgraph 0 makes tensor {tensors[0]}"
    with Reference(adder) as reference, pytest.raises(ValueError, match=message):
        reference.run_tensors(1, "ref", tensors)


@pytest.mark.parametrize("path", ["fast", "tensorflow"])
def test_a_path_that_gives_no_tensors_lists_those_that_do(adder: Model, path: str) -> None:
    with (
        Reference(adder) as reference,
        pytest.raises(ValueError, match="valid are ref, optimized, xnnpack, tflm"),
    ):
        reference.run_tensors(1, path)


def test_tflm_needs_its_extra(adder: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with Reference(adder) as reference, pytest.raises(MissingExtra, match="'tflm' needs the extra"):
        reference.run_tensors(1, "tflm")


def test_a_path_that_cannot_run_is_an_error_with_its_words(tmp_path: Path) -> None:
    model = load(tmp_path, without_kernel())
    with Reference(model) as reference:
        with pytest.raises(ReferenceFailed, match=r"tensors of small \(tflm kernels\): .*ATAN2"):
            reference.run_tensors(1, "tflm")
        assert list(reference.run_tensors(1, "ref")) == made(model)


def test_a_crash_is_an_error_with_its_signal_and_the_next_run_starts_another(adder: Model) -> None:
    with Reference(adder) as reference:
        reference.run(1)
        pid = stop(reference)  # it is in the middle of the run when it dies
        with (
            once_asked(reference, pid, signal.SIGSEGV, signal.SIGCONT),
            pytest.raises(ReferenceFailed, match=r"\(tflm kernels\): TFLM died of SIGSEGV"),
        ):
            reference.run_tensors(1, "tflm")
        assert len(reference.run_tensors(1, "tflm")) == 1


def test_a_process_killed_from_outside_is_an_error(adder: Model) -> None:
    with Reference(adder) as reference:
        reference.run(1)
        pid = stop(reference)
        with (
            once_asked(reference, pid, signal.SIGKILL),
            pytest.raises(ReferenceFailed, match=r"died of SIGKILL.*\n.*killed from outside"),
        ):
            reference.run_tensors(1, "ref")


def test_the_deadline_ends_a_model_that_never_finishes(tmp_path: Path) -> None:
    model = load(tmp_path, endless_loop())
    with Reference(model, timeout_s=1.5) as reference:
        reference.start()
        pid = pid_of(reference)
        with pytest.raises(ReferenceFailed, match=r"did not finish \(ref kernels\) after 1.5 s"):
            reference.run_tensors(1, "ref")
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
