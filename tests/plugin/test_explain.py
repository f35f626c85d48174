"""Runs whose outputs differ: the failure says why and where, and so do the reports."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from tests.helpers.result_files import result_file

SUITE = "autodeploy::test_outputs_agree"


def break_board(pytester: pytest.Pytester, *faults: str) -> None:
    """Give the simulated board of an inner run faults such as ``corrupt-op:3``."""
    arguments = [part for fault in faults for part in ("--fault", fault)]
    pytester.makeconftest(
        "import pytest\n@pytest.fixture(scope='session')\n"
        f"def evb_options(): return {{'sim_arguments': {arguments!r}}}\n"
    )


def explanation_of(pytester: pytest.Pytester, digits: Path) -> dict[str, object] | None:
    (path,) = pytester.path.glob(f"autodeploy-results/{digits.stem}/*/result.json")
    explanation: dict[str, object] | None = result_file(path)["explanation"]
    return explanation


def properties_of(report: Path) -> dict[str, str]:
    found = ElementTree.parse(report).iter("property")  # noqa: S314 (written by pytest)
    return {each.attrib["name"]: each.attrib["value"] for each in found}


def test_a_failure_names_the_cause_and_the_operator(
    pytester: pytest.Pytester, digits: Path
) -> None:
    break_board(pytester, "corrupt-op:2")
    pytest_html = ["--html", "report.html", "--self-contained-html"]
    result = pytester.runpytest(SUITE, "--tflite", digits.name, "--junitxml", "j.xml", *pytest_html)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "wrong output: digits_cnn on sim:apollo4p_evb: outputs differ from the PC's",
            "why: the board, its firmware or its kernel library",
            "  board and TFLM on the PC: off by * steps, though both run the same kernels",
            "where: it starts in operator 2 *, which adds 64 steps in *",
            "  output: tensor *, int8 [[]*[]], scale *, zero point *",
            "  inference *, first elements: [[]*[]] board *, TFLM *",
            "to do: check the kernel of *",
        ]
    )
    properties = properties_of(pytester.path / "j.xml")
    assert properties["autodeploy.divergence"] == "board"
    assert properties["autodeploy.divergence_operator"].startswith("2 ")
    assert not any(name.startswith("autodeploy.layer_2_") for name in properties)
    explanation = explanation_of(pytester, digits)
    assert explanation is not None
    assert explanation["cause"] == "board"
    page = (pytester.path / "report.html").read_text()
    assert "Distance of board and TFLM by operator" in page
    # in pytest's own log, in the row of the test and in the card
    assert page.count("which adds 64 steps in") == 3


def test_nothing_is_found_out_when_it_is_off(pytester: pytest.Pytester, digits: Path) -> None:
    break_board(pytester, "corrupt-op:2")
    result = pytester.runpytest(SUITE, "--tflite", digits.name, "--autodeploy-explain", "off")
    result.assert_outcomes(failed=1)
    result.stdout.no_fnmatch_line("why: *")
    assert explanation_of(pytester, digits) is None


def test_a_run_that_agrees_is_explained_on_request(pytester: pytest.Pytester, digits: Path) -> None:
    pytester.makeini("[pytest]\nautodeploy_explain = layers")
    result = pytester.runpytest(SUITE, "--tflite", digits.name, "--junitxml", "j.xml")
    result.assert_outcomes(passed=1)
    properties = properties_of(pytester.path / "j.xml")
    assert properties["autodeploy.layer_2_adds_steps"] == "0.0"
    assert properties["autodeploy.layer_2_cosine"] == "1.0"
    assert "autodeploy.divergence" not in properties


def test_a_run_that_agrees_is_not_explained_by_itself(
    pytester: pytest.Pytester, digits: Path
) -> None:
    pytester.runpytest(SUITE, "--tflite", digits.name).assert_outcomes(passed=1)
    assert explanation_of(pytester, digits) is None


def test_a_fault_in_the_explanation_never_hides_the_failure(
    pytester: pytest.Pytester, digits: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_arguments: object) -> None:
        raise RuntimeError("a fault\n of ours")

    monkeypatch.setattr("pytest_autodeploy.diagnosis.explain.explain", broken)
    break_board(pytester, "corrupt-op:2")
    result = pytester.runpytest(SUITE, "--tflite", digits.name)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "wrong output: digits_cnn on sim:apollo4p_evb: outputs differ from the PC's",
            "why: could not be found out: a fault of ours",
        ]
    )


def test_the_tests_after_an_explanation_run_on_the_same_board(
    pytester: pytest.Pytester, digits: Path
) -> None:
    break_board(pytester, "corrupt-op:2")
    result = pytester.runpytest("autodeploy", "--tflite", digits.name)
    result.assert_outcomes(failed=1, passed=4)


def test_a_pinned_path_that_fails_alone_is_no_fault_of_the_board(
    pytester: pytest.Pytester, digits: Path
) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.tflite("digits_cnn.tflite")
        @pytest.mark.output_tolerance(lsb=0, reference="xnnpack")
        def test_pinned(model_session):
            model_session.run(inputs=30)
        """
    )
    result = pytester.runpytest()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "why: the PC's kernels differ, the board is not to blame",
            "*; ref agrees, and the test counts xnnpack only",
            "where: ref and xnnpack part in operator *",
            'to do: let the nearest kernels count instead of reference="xnnpack"*',
        ]
    )
