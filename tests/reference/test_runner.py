"""The reference runs: LiteRT's kernels in a process of their own, whatever happens to it."""

from __future__ import annotations

import dataclasses
import gc
import os
import select
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from pytest_autodeploy.base.errors import MissingExtra, ReferenceFailed
from pytest_autodeploy.base.kernel_paths import ALL_PATHS
from pytest_autodeploy.model.graph import Model
from pytest_autodeploy.model.load import load_model
from pytest_autodeploy.reference.inputs import as_inputs, random_inputs
from pytest_autodeploy.reference.runner import Reference
from tests.helpers.stopped_child import once_asked, pid_of, stop
from tests.helpers.tflite_builder import (
    add_two_inputs,
    constant,
    endless_loop,
    running_sum,
    single_operator,
    tensor,
    without_kernel,
)

needs_pidfd = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="pidfd is Linux's")


@pytest.fixture
def adder(tmp_path: Path) -> Model:
    """Two float inputs, their sum."""
    return load(tmp_path, add_two_inputs("float32"))


def load(folder: Path, content: bytes) -> Model:
    """Write and load a model."""
    file = folder / "small.tflite"
    file.write_bytes(content)
    return load_model(file)


def lookup() -> bytes:
    """One row of a table of three."""
    table, ids = constant(np.zeros((3, 2)), "float32"), tensor((1, 1), "int32")
    return single_operator("GATHER", [table, ids], [tensor((1, 1, 2))])


def ended(process: int, within_s: float = 20) -> bool:
    """Wait until a process, by its pidfd, has ended."""
    return bool(select.select([process], [], [], within_s)[0])


def test_every_path_runs_every_inference_of_every_input(adder: Model) -> None:
    inputs = random_inputs(adder, 7, 42)
    with Reference(adder) as reference:
        outputs = reference.run(inputs)
        assert reference.failed_paths == {}
    assert list(outputs) == ["ref", "optimized", "xnnpack"]
    for (result,) in outputs.values():
        assert result.shape == (7, 1, 4)
        assert np.array_equal(result, inputs.arrays[0] + inputs.arrays[1])


def test_one_path_can_be_chosen(adder: Model) -> None:
    with Reference(adder, paths=["xnnpack"]) as reference:
        assert list(reference.run(random_inputs(adder, 1, 42))) == ["xnnpack"]


@pytest.mark.parametrize("paths", [["fast"], []])
def test_a_path_that_does_not_exist_lists_the_paths(adder: Model, paths: list[str]) -> None:
    with pytest.raises(ValueError, match="valid are ref, optimized, xnnpack, tensorflow"):
        Reference(adder, paths=paths)


@pytest.mark.parametrize(("path", "extra"), [("tensorflow", "tensorflow"), ("tflm", "sim")])
def test_engines_other_than_litert_need_their_extras(
    adder: Model, monkeypatch: pytest.MonkeyPatch, path: str, extra: str
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(MissingExtra, match=rf"pytest-autodeploy\[{extra}\]"):
        Reference(adder, paths=[path])


@pytest.mark.skipif(find_spec("tensorflow") is None, reason="tensorflow is not installed")
@pytest.mark.slow
def test_tensorflow_runs_beside_litert_when_asked_for(adder: Model) -> None:
    inputs = random_inputs(adder, 2, 42)
    with Reference(adder, paths=["tensorflow", "ref"]) as reference:
        outputs = reference.run(inputs)
        assert list(reference.versions()) == ["ai-edge-litert", "tensorflow"]
    assert list(outputs) == ["ref", "tensorflow"]
    assert np.array_equal(outputs["tensorflow"][0], inputs.arrays[0] + inputs.arrays[1])


def test_versions_name_what_ran(adder: Model) -> None:
    with Reference(adder) as reference:
        assert list(reference.versions()) == ["ai-edge-litert"]


def test_neither_litert_nor_tensorflow_is_imported_here(adder: Model, tmp_path: Path) -> None:
    code = (
        "import sys, pathlib\n"
        "from pytest_autodeploy.model.load import load_model\n"
        "from pytest_autodeploy.reference.inputs import random_inputs\n"
        "from pytest_autodeploy.reference.runner import Reference\n"
        "model = load_model(pathlib.Path(sys.argv[1]))\n"
        "with Reference(model) as reference: reference.run(random_inputs(model, 1, 42))\n"
        "assert not {'ai_edge_litert.interpreter', 'tensorflow'} & set(sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(adder.path)], check=True, capture_output=True, timeout=60
    )
    assert (done.stdout, done.stderr) == (b"", b"")


def test_state_is_kept_between_inferences_and_fresh_in_every_run(tmp_path: Path) -> None:
    model = load(tmp_path, running_sum())
    ones = np.ones((5, 1, 4), np.float32)
    with Reference(model) as reference:
        first = reference.run(as_inputs(ones[:3], model))
        second = reference.run(as_inputs(ones, model))
    for path in first:
        assert first[path][0][:, 0, 0].tolist() == [1, 2, 3]
        assert second[path][0][:, 0, 0].tolist() == [1, 2, 3, 4, 5]


def test_state_can_be_reset_before_every_inference(tmp_path: Path) -> None:
    model = load(tmp_path, running_sum())
    ones = np.ones((3, 1, 4), np.float32)
    with Reference(model, paths=ALL_PATHS[:3] + ALL_PATHS[4:]) as reference:
        kept, reset = (reference.run(ones, reset_each=reset) for reset in (False, True))
        again = reference.run(ones)
    assert list(reset) == ["ref", "optimized", "xnnpack", "tflm"]
    for path in reset:
        assert kept[path][0][:, 0, 0].tolist() == [1, 2, 3]
        assert reset[path][0][:, 0, 0].tolist() == [1, 1, 1]
        assert again[path][0] is kept[path][0]


def test_tflm_runs_beside_litert_when_asked_for(adder: Model) -> None:
    inputs = random_inputs(adder, 2, 42)
    with Reference(adder, paths=["tflm", "ref"]) as reference:
        outputs = reference.run(inputs)
        assert list(reference.versions()) == ["ai-edge-litert", "tflite-micro"]
    assert list(outputs) == ["ref", "tflm"]
    assert np.array_equal(outputs["tflm"][0], inputs.arrays[0] + inputs.arrays[1])


def test_a_refusal_of_tflm_is_told_in_its_own_words(tmp_path: Path) -> None:
    model = load(tmp_path, without_kernel())
    with Reference(model, paths=["tflm", "ref"]) as reference:
        assert list(reference.run(random_inputs(model, 1, 42))) == ["ref"]
        assert "ATAN2" in reference.failed_paths["tflm"]


def test_identical_inputs_are_not_run_again(adder: Model) -> None:
    with Reference(adder) as reference:
        first = reference.run(random_inputs(adder, 3, 42))
        pid = pid_of(reference)
        os.kill(pid, signal.SIGKILL)
        again = reference.run(random_inputs(adder, 3, 42))
    assert again["ref"][0] is first["ref"][0]


def test_a_run_that_was_begun_is_awaited_and_not_done_again(adder: Model) -> None:
    inputs = random_inputs(adder, 3, seed=1)
    with Reference(adder, paths=["ref"]) as reference:
        reference.begin(inputs)
        outputs = reference.run(inputs)["ref"]
        assert np.array_equal(outputs[0], inputs.arrays[0] + inputs.arrays[1])
        assert reference.run(inputs)["ref"][0] is outputs[0]


def test_a_run_that_was_begun_and_fails_tells_why(adder: Model) -> None:
    model = dataclasses.replace(adder, content=adder.content[:100])
    inputs = random_inputs(model, 1, seed=1)
    with Reference(model, paths=["ref"]) as reference:
        reference.begin(inputs)
        with pytest.raises(ReferenceFailed, match="the PC cannot run small"):
            reference.run(inputs)


def test_closing_ends_a_run_that_was_begun(tmp_path: Path) -> None:
    model = load(tmp_path, endless_loop())
    with Reference(model, paths=["ref"]) as reference:
        reference.begin(random_inputs(model, 1, seed=1))
        while reference._process.pid is None:
            os.sched_yield()
        pid = reference._process.pid
    assert not Path(f"/proc/{pid}").exists()


def test_results_cannot_be_changed_by_who_gets_them(adder: Model) -> None:
    with Reference(adder) as reference:
        (result,) = reference.run(random_inputs(adder, 1, 42))["ref"]
    with pytest.raises(ValueError, match="read-only"):
        result[0] = 0


def test_one_process_serves_all_runs(adder: Model) -> None:
    with Reference(adder) as reference:
        reference.start()
        pid = pid_of(reference)
        reference.run(random_inputs(adder, 1, 1))
        reference.run(random_inputs(adder, 1, 2))
        assert pid_of(reference) == pid


def test_a_refusal_of_all_paths_quotes_litert(tmp_path: Path) -> None:
    model = load(tmp_path, lookup())
    with Reference(model) as reference:
        with pytest.raises(ReferenceFailed, match=r"gather index out of bounds.*ref, optimized"):
            reference.run(as_inputs(np.array([[9]], np.int32), model))
        assert "ref" in reference.run(as_inputs(np.array([[2]], np.int32), model))


@pytest.mark.parametrize("cut", [0, 100, 300])
def test_a_damaged_model_is_one_clear_error(adder: Model, cut: int) -> None:
    damaged = dataclasses.replace(adder, content=adder.content[:cut])
    with (
        Reference(damaged) as reference,
        pytest.raises(ReferenceFailed, match=r"the PC cannot run small: .*\(ref, optimized"),
    ):
        reference.run(random_inputs(adder, 1, 42))


def test_a_path_that_crashes_is_left_out_with_its_reason(adder: Model) -> None:
    with Reference(adder) as reference:
        reference.start()
        os.kill(pid_of(reference), signal.SIGSEGV)
        outputs = reference.run(random_inputs(adder, 2, 42))
        assert list(outputs) == ["optimized", "xnnpack"]
        assert reference.failed_paths == {"ref": "LiteRT died of SIGSEGV"}


def test_a_crash_of_the_only_path_names_the_signal(adder: Model) -> None:
    with Reference(adder, paths=["ref"]) as reference:
        reference.start()
        os.kill(pid_of(reference), signal.SIGABRT)
        with pytest.raises(ReferenceFailed, match=r"small: LiteRT died of SIGABRT \(ref\)"):
            reference.run(random_inputs(adder, 2, 42))


def test_a_process_killed_from_outside_is_an_error_and_the_next_run_starts_another(
    adder: Model,
) -> None:
    with Reference(adder) as reference:
        reference.run(random_inputs(adder, 1, 1))
        pid = stop(reference)  # it is in the middle of the run when it is killed
        with (
            once_asked(reference, pid, signal.SIGKILL),
            pytest.raises(ReferenceFailed, match=r"died of SIGKILL.*\n.*killed from outside"),
        ):
            reference.run(random_inputs(adder, 1, 2))
        assert len(reference.run(random_inputs(adder, 1, 2))) == 3


def test_the_deadline_ends_a_model_that_never_finishes(tmp_path: Path) -> None:
    model = load(tmp_path, endless_loop())
    with Reference(model, timeout_s=1.5) as reference:
        reference.start()
        pid = pid_of(reference)
        with pytest.raises(ReferenceFailed, match=r"did not finish \(ref kernels\) after 1.5 s"):
            reference.run(random_inputs(model, 1, 42))
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_the_deadline_also_ends_the_wait_for_inputs_to_be_taken(adder: Model) -> None:
    with Reference(adder, timeout_s=60) as reference:
        reference.run(random_inputs(adder, 1, 42))
        reference._process._timeout_s = 0.3
        stop(reference)
        with pytest.raises(ReferenceFailed, match=r"after 0\.3 s"):  # more than a pipe holds
            reference.run(random_inputs(adder, 100_000, 42))


@pytest.mark.usefixtures("default_signals")
def test_an_interrupted_run_leaves_nothing_behind(adder: Model) -> None:
    with Reference(adder) as reference:
        reference.run(random_inputs(adder, 1, 1))
        pid = stop(reference)
        with once_asked(reference, os.getpid(), signal.SIGINT), pytest.raises(KeyboardInterrupt):
            reference.run(random_inputs(adder, 1, 2))
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
        assert len(reference.run(random_inputs(adder, 1, 2))) == 3


@needs_pidfd
@pytest.mark.parametrize("way", ["close", "forget"])
def test_the_process_ends_with_the_reference(adder: Model, way: str) -> None:
    reference = Reference(adder)
    reference.start()
    process = os.pidfd_open(pid_of(reference))
    try:
        if way == "close":
            reference.close()
            reference.close()
        else:
            del reference
            gc.collect()
        assert ended(process)
    finally:
        os.close(process)


@needs_pidfd
def test_the_process_ends_when_its_parent_is_killed_in_the_middle_of_a_run(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib\n"
        "from pytest_autodeploy.model.load import load_model\n"
        "from pytest_autodeploy.reference.inputs import random_inputs\n"
        "from pytest_autodeploy.reference.runner import Reference\n"
        "model = load_model(pathlib.Path(sys.argv[1]))\n"
        "reference = Reference(model)\n"
        "reference.start()\n"
        "print(reference._process.pid, flush=True)\n"
        "reference.run(random_inputs(model, 1, 42))\n"
    )
    model = load(tmp_path, endless_loop())
    with subprocess.Popen(
        [sys.executable, "-c", code, str(model.path)], stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdout is not None
        process = os.pidfd_open(int(parent.stdout.readline()))
        try:
            assert not ended(process, 0.8)
            parent.kill()
            assert ended(process)
        finally:
            os.close(process)
