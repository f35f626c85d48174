"""Accuracy on data with labels: on the board and on the PC, judged, told, and resumed."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_autodeploy.rpc.pieces import MOST_AHEAD
from tests.helpers.broken_boards import break_board
from tests.helpers.emulation import needs_qemu, needs_tflm
from tests.helpers.result_files import result_file
from tests.helpers.support import DIGITS, MODELS
from tests.helpers.tflite_builder import fully_connected, with_input_zero_point

INPUTS = "digits_test.npz"
LABELS = "digits_test_labels.npy"
DATA = ("--tflite-inputs", INPUTS, "--tflite-labels", LABELS)


@pytest.fixture(autouse=True)
def _data(pytester: pytest.Pytester, digits: Path) -> None:
    for name in (INPUTS, LABELS):
        shutil.copy(MODELS / name, pytester.path)


def run_suite(
    pytester: pytest.Pytester, *arguments: str, model: str = DIGITS.name
) -> pytest.RunResult:
    """The built-in test of accuracy on one model, or on all that are named."""
    return pytester.runpytest("autodeploy::test_accuracy", "--tflite", model, *DATA, *arguments)


def result_of(model: str = "digits_cnn", board: str = "sim_apollo4p_evb") -> dict[str, Any]:
    """The JSON of the latest run."""
    path = Path("autodeploy-results") / model / board / "result.json"
    return result_file(path)


def wrong_zero_point() -> bytes:
    """The digits model with inputs that saturate: 0 to 1 should be -128 to 127."""
    return with_input_zero_point(DIGITS.read_bytes(), 110)


def test_labels_add_a_test_that_measures_both_sides(pytester: pytest.Pytester) -> None:
    run_suite(pytester).assert_outcomes(passed=1)
    result = result_of()
    by_name = {item["name"]: item for item in result["measurements"]}
    board, pc = by_name["accuracy"], by_name["accuracy_pc"]
    assert board["value"] > 0.97
    assert abs(board["value"] - pc["value"]) <= 0.001
    assert (board["source"], pc["source"]) == ("modelled", "exact")
    assert pc["note"].endswith("samples, LiteRT on this PC, ref kernels")
    accuracy = result["accuracy"]
    assert set(accuracy["pc"]) == {"ref", "optimized", "xnnpack"}
    assert sum(map(sum, accuracy["confusion"])) == accuracy["samples"] == 360
    right = sum(accuracy["confusion"][digit][digit] for digit in range(10))
    assert right == accuracy["board"]["correct"]


def test_without_labels_there_is_no_such_test(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest("autodeploy", "--tflite", DIGITS.name, "--collect-only", "-q")
    result.stdout.no_fnmatch_line("*test_accuracy*")


def test_an_accuracy_under_its_limit_fails_with_both_sides(pytester: pytest.Pytester) -> None:
    result = run_suite(pytester, "--tflite-accuracy", "min=0.999")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "digits_cnn on sim:apollo4p_evb: accuracy is under its limit",
            "  declared accuracy(min=0.999) by --tflite-accuracy",
            "  limit   at least 0.999",
            "  value   0.9*",
            "  board   0.9* (* of 360 samples), modelled",
            "  PC      0.9* (* of 360 samples), ref kernels",
        ]
    )


def test_a_wrong_zero_point_is_caught_against_the_right_model(pytester: pytest.Pytester) -> None:
    Path("wrong.tflite").write_bytes(wrong_zero_point())
    same = run_suite(pytester, "--tflite-accuracy", "max_drop=0.01", model="wrong.tflite")
    same.assert_outcomes(passed=1)  # the PC runs the same wrong model
    limit = f"max_drop=0.01,against={DIGITS.name}"
    result = run_suite(pytester, "--tflite-accuracy", limit, model="wrong.tflite")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "wrong on sim:*: drop of accuracy from the PC to the board is over its limit",
            "  PC      0.98* (* of 360 samples), * kernels of digits_cnn.tflite",
            "  decisions that changed: * of 360",
            "    sample *: label *, PC *, board *",
            "    and * more",
        ]
    )
    accuracy = result_of("wrong")["accuracy"]
    assert accuracy["against"] == "digits_cnn.tflite"
    (npz,) = result_of("wrong")["files"]["changed"]
    with np.load(Path("autodeploy-results") / npz) as arrays:
        samples = [each["sample"] for each in accuracy["changed"]]
        assert arrays["sample"].tolist() == samples
        assert arrays["board"].shape == arrays["pc"].shape == (len(samples), 1, 10)


def test_stored_values_cannot_be_given_to_another_model(pytester: pytest.Pytester) -> None:
    Path("wrong.tflite").write_bytes(wrong_zero_point())
    np.save("stored.npy", np.zeros((2, 8, 8, 1), np.int8))
    np.save("labels.npy", np.array([0, 1]))
    data = ("--tflite-inputs", "stored.npy", "--tflite-labels", "labels.npy")
    limit = ("--tflite-accuracy", f"max_drop=0.01,against={DIGITS.name}")
    suite = ("autodeploy::test_accuracy", "--tflite", "wrong.tflite")
    result = pytester.runpytest(*suite, *data, *limit)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*the inputs are stored int8 values", "*give real values*"])


def write_test(pytester: pytest.Pytester, body: str) -> None:
    pytester.makepyfile(
        test_it=f'''
import numpy as np
import pytest
pytestmark = pytest.mark.tflite("{DIGITS.name}")

@pytest.fixture(scope="session")
def model_inputs(): return "{INPUTS}"

@pytest.fixture(scope="session")
def model_labels(): return np.load("{LABELS}")
{body}
'''
    )


def test_a_marker_measures_by_itself_on_overridden_data(pytester: pytest.Pytester) -> None:
    write_test(
        pytester,
        """
@pytest.mark.accuracy(min=0.97, max_drop=0.001)
def test_good(model_session): pass

@pytest.mark.accuracy(min=0.999, top_k=3)
def test_top_3(model_session): pass

@pytest.mark.accuracy(min=0.999)
def test_bad(model_session): pass
""",
    )
    result = pytester.runpytest("test_it.py")
    result.assert_outcomes(passed=2, failed=1)
    names = {item["name"] for item in result_of()["measurements"]}
    assert {"accuracy", "accuracy_pc", "accuracy_drop", "accuracy_top3"} <= names


def test_a_test_may_ask_for_the_figures(pytester: pytest.Pytester) -> None:
    write_test(
        pytester,
        """
def test_it(model_session, model_labels):
    images = np.load("digits_test.npz")["image"][:50]
    measured = model_session.accuracy(model_labels[:50], inputs=images)
    assert measured.accuracy == np.mean(measured.decisions == model_labels[:50])
    assert measured.rmse is None
""",
    )
    pytester.runpytest("test_it.py").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("marker", "call", "says"),
    [
        ("min=0.9, output=3", "", "*no output 3; the model has 0 'Identity'"),
        ("max_rmse=1", "", "*labels given by the test are class indices"),
        ("min=0.9", "inputs=5", "*the inputs are random ones"),
        ("min=0.9", "[1, 2]", "*2 labels for 360 inputs; give one per input"),
    ],
)
def test_what_cannot_be_judged_is_said(
    pytester: pytest.Pytester, marker: str, call: str, says: str
) -> None:
    body = f"model_session.accuracy({call})" if call else "pass"
    write_test(pytester, f"@pytest.mark.accuracy({marker})\ndef test_it(model_session): {body}")
    result = pytester.runpytest("test_it.py")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([says])


def test_a_marker_without_labels_is_told_what_to_give(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_it='import pytest\npytestmark = pytest.mark.tflite("digits_cnn.tflite")\n'
        "@pytest.mark.accuracy(min=0.9)\ndef test_it(model_session): pass"
    )
    result = pytester.runpytest("test_it.py")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*accuracy: there are no labels", "  give --tflite-labels*"])


@pytest.mark.parametrize(
    "arguments",
    [
        ("--tflite-accuracy", "against=missing.tflite,min=0.9"),
        ("--tflite-accuracy", "min=2"),
        ("--tflite-accuracy", "min=0.9"),  # there are no labels
        ("--tflite-labels", "missing.npy"),
        ("--tflite-state", "kept"),
    ],
)
def test_settings_are_checked_before_anything_runs(
    pytester: pytest.Pytester, arguments: tuple[str, str]
) -> None:
    result = pytester.runpytest("--tflite", DIGITS.name, *arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {arguments[0]}*"])


def test_a_missing_model_of_a_marker_is_a_usage_error(pytester: pytest.Pytester) -> None:
    write_test(
        pytester,
        '@pytest.mark.accuracy(min=0.9, against="no.tflite")\ndef test_it(model_session): pass',
    )
    result = pytester.runpytest("test_it.py")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: test_it.py::test_it: *no such model file: *no.tflite"])


def test_a_board_that_breaks_goes_on_where_it_broke(pytester: pytest.Pytester) -> None:
    break_board(pytester, "die@invoke#150")
    result = run_suite(pytester, "--tflite-accuracy", "min=0.97,max_drop=0.001", "-v")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["Restarts of the board*2*", "*sample 14?: infer: *SIGSEGV*"])
    restarts = result_of()["accuracy"]["restarts"]
    first, second = (int(words.partition(":")[0].removeprefix("sample ")) for words in restarts)
    # A board that dies may take up to so many answers with it: they are of samples sent ahead.
    assert 149 - MOST_AHEAD < first <= 149
    assert 149 - MOST_AHEAD < second - first <= 149


def test_a_silent_board_is_restarted_too(pytester: pytest.Pytester) -> None:
    break_board(pytester, "hang@invoke#200")
    run_suite(pytester, "--evb-timeout", "3").assert_outcomes(passed=1)
    assert len(result_of()["accuracy"]["restarts"]) == 1


def test_a_board_that_breaks_at_the_same_sample_twice_is_an_error(
    pytester: pytest.Pytester,
) -> None:
    break_board(pytester, "die@invoke")
    result = run_suite(pytester)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["board broke: *: sample 0 of 360, for the second time: infer: its process died of*"]
    )


def test_a_board_that_breaks_again_and_again_is_an_error(pytester: pytest.Pytester) -> None:
    break_board(pytester, "die@invoke#20")
    result = run_suite(pytester)
    result.assert_outcomes(failed=1)
    (told,) = {
        int(number)
        for number in re.findall(r"sample (\d+) of 360, the board broke 4", result.stdout.str())
    }
    assert 4 * (19 - MOST_AHEAD) < told <= 4 * 19


def test_real_targets_are_judged_by_rmse_and_r2(pytester: pytest.Pytester) -> None:
    Path("line.tflite").write_bytes(fully_connected("float32", depth=4, units=2))
    samples = np.random.default_rng(1).normal(size=(20, 1, 4)).astype(np.float32)
    np.save("x.npy", samples)
    pytester.makepyfile(
        test_it="""
import numpy as np
import pytest
pytestmark = pytest.mark.tflite("line.tflite")

@pytest.fixture(scope="session")
def model_inputs(): return "x.npy"

def test_targets(model_session):
    np.save("y.npy", model_session.run().outputs[0].reshape(20, 2) + 0.25)

@pytest.mark.accuracy(max_rmse=0.26, min_r2=0.5, max_drop=0.001)
def test_good(model_session): model_session.accuracy("y.npy")

@pytest.mark.accuracy(max_rmse=0.24)
def test_bad(model_session): model_session.accuracy("y.npy")

@pytest.mark.accuracy(min=0.9)
def test_of_classes(model_session): model_session.accuracy("y.npy")
"""
    )
    result = pytester.runpytest("test_it.py")
    result.assert_outcomes(passed=2, failed=2)
    result.stdout.fnmatch_lines(
        [
            "line on sim:apollo4p_evb: RMSE is over its limit",
            "  board   RMSE 0.25, R² *, modelled",
        ]
    )
    result.stdout.fnmatch_lines(["*accuracy(min=0.9): labels of y.npy are real targets"])
    by_name = {item["name"]: item for item in result_of("line")["measurements"]}
    assert by_name["rmse"]["value"] == pytest.approx(0.25)
    assert by_name["rmse_pc"]["better"] == "lower"
    assert {"r2", "r2_pc", "r2_drop"} <= set(by_name)


def test_the_reports_show_the_matrix_and_what_changed(pytester: pytest.Pytester) -> None:
    Path("wrong.tflite").write_bytes(wrong_zero_point())
    reports = ("--html", "report.html", "--self-contained-html", "--junitxml", "junit.xml")
    limit = ("--tflite-accuracy", f"max_drop=0.01,against={DIGITS.name}")
    run_suite(pytester, *limit, *reports, model="wrong.tflite")
    html = Path("report.html").read_text(encoding="utf-8")
    for text in ("Labels (rows) and decisions of the board", "Decisions that changed", "(nearest)"):
        assert text in html
    junit = Path("junit.xml").read_text(encoding="utf-8")
    for name in ("accuracy", "accuracy.source", "accuracy_pc", "decisions_changed"):
        assert f'name="autodeploy.{name}"' in junit


@needs_qemu
@needs_tflm
def test_an_emulated_board_is_as_accurate_as_the_pc(pytester: pytest.Pytester) -> None:
    limit = ("--tflite-accuracy", "min=0.97,max_drop=0.001")
    run_suite(pytester, "--evb", "qemu:mps2-an386", *limit).assert_outcomes(passed=1)
    by_name = {i["name"]: i for i in result_of(board="qemu_mps2-an386")["measurements"]}
    assert abs(by_name["accuracy_drop"]["value"]) <= 0.001
    assert by_name["accuracy"]["source"] == "emulated"
