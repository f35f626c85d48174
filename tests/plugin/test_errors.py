"""Bad input: one clear error each, before any board is touched, and nothing left behind."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.helpers import tflite_builder
from tests.helpers.support import DIGITS

TRACEBACK = "*Traceback (most recent call last)*"


@pytest.fixture
def no_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail when a board or a PC reference is started."""

    def refuse(*_args: object, **_kwargs: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr("subprocess.Popen.__init__", refuse)


def broken_models() -> dict[str, tuple[bytes, str]]:
    """Per case the content of a model file and what the error says."""
    good = DIGITS.read_bytes()
    flipped = bytearray(good)
    flipped[4:8] = b"XXXX"
    return {
        "empty": (b"", "*m.tflite is empty, not a TFLite model"),
        "text": (b"hello world\n", "*m.tflite is a text file, not a TFLite model"),
        "truncated": (good[:5000], "*m.tflite: the model is damaged or cut short: *"),
        "flipped": (bytes(flipped), "*m.tflite*not a TFLite model*"),
        "compiled by Vela": (tflite_builder.vela_compiled(), "*m.tflite*compiled by Vela*"),
        "custom operator": (tflite_builder.custom_operator(), "*TFLM has no kernel for *"),
        "no kernel": (tflite_builder.without_kernel(), "*TFLM has no kernel for *"),
        "dynamic shape": (tflite_builder.dynamic_shape(), "*dynamic shape*"),
        "string tensor": (tflite_builder.string_input(), "*string*"),
    }


@pytest.mark.usefixtures("no_processes")
@pytest.mark.parametrize("case", broken_models())
def test_a_model_that_cannot_run_is_one_error(pytester: pytest.Pytester, case: str) -> None:
    content, says = broken_models()[case]
    Path("m.tflite").write_bytes(content)
    result = pytester.runpytest("--tflite", "m.tflite")
    result.assert_outcomes(errors=1, skipped=4)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines([says])
    result.stdout.no_fnmatch_line(TRACEBACK)


def broken_inputs() -> dict[str, tuple[str, object, str]]:
    """Per case a file name, what it holds and what the error says."""
    shape = (2, 8, 8, 1)
    return {
        "junk": ("i.npz", b"junk", "*i.npz: not a valid .npz file*"),
        "text": ("i.npy", b"junk", "*i.npy: not a valid .npy file*"),
        "shape": ("i.npy", np.zeros((2, 7), np.float32), "*shape*"),
        "dtype": ("i.npy", np.zeros(shape, np.complex64), "*complex64*"),
        "NaN": ("i.npy", np.full(shape, np.nan, np.float32), "*NaN or infinite values"),
        "none": ("i.npy", np.zeros((0, 8, 8, 1), np.float32), "*"),
        "kind": ("i.txt", b"1,2,3", "*.npz, .npy*.csv*"),
    }


@pytest.mark.usefixtures("no_processes")
@pytest.mark.parametrize("case", broken_inputs())
def test_inputs_that_cannot_be_used_are_one_error(
    pytester: pytest.Pytester, digits: Path, case: str
) -> None:
    name, content, says = broken_inputs()[case]
    if isinstance(content, bytes):
        Path(name).write_bytes(content)
    else:
        np.save(name, np.asarray(content))
    result = pytester.runpytest("--tflite", digits.name, "--tflite-inputs", name)
    result.assert_outcomes(errors=1, skipped=4)
    result.stdout.fnmatch_lines([says])
    result.stdout.no_fnmatch_line(TRACEBACK)


@pytest.mark.usefixtures("no_processes", "digits")
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--tflite", "missing.tflite"), "no such model file: *missing.tflite"),
        (("--tflite", "empty"), "no .tflite file in the folder *empty*"),
        (("--tflite", "x*.tflite"), "no model matches *x[*].tflite"),
        (("--evb", "sim:apolo4p_evb"), "unknown board 'sim:apolo4p_evb'"),
        (("--evb", "qemu:mps3"), "unknown board 'qemu:mps3'"),
        (("--evb", "usb:apollo4p_evb"), "unknown kind of board 'usb:apollo4p_evb'"),
        (("--evb-port", "socket://foo"), "--evb-port socket://foo: use socket://HOST:PORT"),
        (
            ("--evb-require-hardware",),
            "--evb-require-hardware: sim:apollo4p_evb is not a hardware board",
        ),
        (("--evb-port=socket://h:1", "--evb=sim:apollo3p_evb", "--evb=sim:apollo4p_evb"), "*once"),
        (("--evb-clock", "XP"), "--evb-clock: 'XP' is not one of HP, LP"),
        (
            ("--evb-arena-memory", "psram"),
            "--evb-arena-memory: sim:apollo4p_evb has no PSRAM for the arena",
        ),
        (
            ("--evb-model-memory", "dtcm", "--evb", "qemu:mps2-an386"),
            "--evb-model-memory: qemu:mps2-an386 has no DTCM for the model",
        ),
        (("--evb-timeout", "-1"), "--evb-timeout: '-1' is not a positive number"),
        (("--evb-sim-link", "speed=1"), "--evb-sim-link 'speed=1': use bytes_per_s=N,latency_ms=N"),
        (("--tflite-runs", "0"), "--tflite-runs: '0' is not a positive whole number"),
        (("--tflite-seed", "x"), "--tflite-seed: *'x'*"),
        (("--tflite-inputs", "missing.npz"), "--tflite-inputs: no such file: missing.npz"),
        (("--tflite-reference", "gpu"), "--tflite-reference: 'gpu' is not one of auto, ref*"),
        (("--tflite-tolerance", "1"), "--tflite-tolerance '1': use KEY=VALUE,... as in output_*"),
        (("--tflite-latency-budget", "ms=-1"), "--tflite-latency-budget *ms must be above 0*"),
        (
            ("--tflite-latency-budget", "ms=x"),
            "--tflite-latency-budget *must be a number*",
        ),
        (("--tflite-memory-limit", "kb=1"), "--tflite-memory-limit *unexpected*'kb'; use memory_*"),
        (("--autodeploy-output", "digits_cnn.tflite/x"), "--autodeploy-output: cannot write*"),
    ],
)
def test_a_wrong_option_is_a_usage_error(
    pytester: pytest.Pytester, arguments: tuple[str, ...], says: str
) -> None:
    pytester.mkdir("empty")
    models = () if "--tflite" in arguments else ("--tflite", "digits_cnn.tflite")
    result = pytester.runpytest(*models, *arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {says}"])
    result.stdout.no_fnmatch_line(TRACEBACK)
    assert not Path("autodeploy-results").exists()


def test_help_works_with_a_wrong_setting(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nautodeploy_evb = nonsense\nautodeploy_runs = -3\n")
    result = pytester.runpytest("--help")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["TensorFlow Lite models on evaluation boards:", "*--tflite=PATH*"])


def test_a_port_that_does_not_exist_lists_those_that_do(
    pytester: pytest.Pytester, digits: Path
) -> None:
    result = pytester.runpytest("--tflite", digits.name, "--evb-port", "/dev/ttyNONE")
    result.assert_outcomes(errors=4)  # a board that broke is red in every test that needs it
    result.stdout.fnmatch_lines(["board broke: *: port /dev/ttyNONE does not exist", "*ports*"])
    result.stdout.no_fnmatch_line(TRACEBACK)


def test_a_model_that_does_not_fit_shows_the_sums(pytester: pytest.Pytester, digits: Path) -> None:
    arena = ("--evb-arena-kb", "4000")
    result = pytester.runpytest("--tflite", digits.name, "--evb", "sim:apollo3p_evb", *arena)
    result.assert_outcomes(errors=1, skipped=4)
    result.stdout.fnmatch_lines(["sim:apollo3p_evb: flash refused: the arena does*KB > *"])


def test_an_arena_that_is_too_small_has_tflms_own_words(
    pytester: pytest.Pytester, digits: Path
) -> None:
    result = pytester.runpytest("--tflite", digits.name, "--evb-arena-kb", "1")
    result.assert_outcomes(errors=1, skipped=4)
    result.stdout.fnmatch_lines(["sim:apollo4p_evb: configure*"])
    result.stdout.fnmatch_lines(["*Failed to allocate*"])
    result.stdout.no_fnmatch_line(TRACEBACK)


def test_other_models_run_when_one_is_broken(pytester: pytest.Pytester, digits: Path) -> None:
    Path("broken.tflite").write_bytes(digits.read_bytes()[:3000])
    result = pytester.runpytest("--tflite", ".")
    result.assert_outcomes(passed=5, errors=1, skipped=4)


def test_a_name_that_is_no_identifier_runs(pytester: pytest.Pytester) -> None:
    for name in ("1 model.v2.tflite", "mödel.tflite", "<img src=x onerror=alert(1)>.tflite"):
        shutil.copy(DIGITS, name)
    result = pytester.runpytest("--tflite", ".", "-k", "fits")
    result.assert_outcomes(passed=3)


def test_what_tflm_refuses_is_one_error_before_any_board_is_used(
    pytester: pytest.Pytester, digits: Path
) -> None:
    """The types are right, so only a trial finds it: TFLM wants 1/256 as the scale of LOGISTIC."""
    x = tflite_builder.tensor((1, 4), "int8", scale=0.5)
    y = tflite_builder.tensor((1, 4), "int8", scale=0.5)
    Path("sigmoid.tflite").write_bytes(tflite_builder.single_operator("LOGISTIC", [x], [y]))
    result = pytester.runpytest("--tflite", "sigmoid.tflite")
    result.assert_outcomes(errors=1, skipped=4)
    result.stdout.fnmatch_lines(
        [
            "*sigmoid.tflite: TFLM refuses the model: *Node LOGISTIC (number 0) failed to prepare*",
            "*tried on this PC, before anything was built or flashed*",
        ]
    )
    result.stdout.no_fnmatch_line(TRACEBACK)


def test_a_folder_for_results_that_has_become_unusable_is_told_before_a_test_runs(
    pytester: pytest.Pytester, digits: Path, no_processes: None
) -> None:
    """The start of the run has made it; then somebody puts a file in its place."""
    pytester.makeconftest(
        "import pathlib, shutil\n"
        "def pytest_collection_finish(session):\n"
        "    folder = pathlib.Path('autodeploy-results')\n"
        "    shutil.rmtree(folder)\n"
        "    folder.touch()\n"
    )
    result = pytester.runpytest("--tflite", digits)
    result.stdout.fnmatch_lines(
        ["* ERROR at setup of test_model_fits*", "*cannot write to the folder*autodeploy-results*"]
    )
    result.stdout.no_fnmatch_line(TRACEBACK)
    assert result.ret == pytest.ExitCode.TESTS_FAILED


WITHOUT_TENSORFLOW = """
import importlib.util
real = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: None if name == "tensorflow" else real(name, *more)
"""


def test_a_folder_of_keras_models_without_the_extra_is_one_message_and_has_records(
    pytester: pytest.Pytester,
) -> None:
    pytester.makeconftest(WITHOUT_TENSORFLOW)
    pytester.mkdir("models").joinpath("a.keras").write_bytes(b"")
    result = pytester.runpytest_subprocess("autodeploy", "--tflite=models")
    result.assert_outcomes(errors=1, skipped=4)
    result.stdout.fnmatch_lines(
        [
            "converting .keras files needs the extra 'tensorflow'",
            "  pip install 'pytest-autodeploy[[]tensorflow]'",
            "a * ERROR, 4 skipped",
        ]
    )
    result.stdout.no_fnmatch_line("*not all was written*")
