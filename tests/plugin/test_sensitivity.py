"""Runs that tell what their inputs would notice: on request, as a limit, and from the cache."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.result_files import result_file

SUITE = "autodeploy::test_outputs_agree"
CACHE = "--autodeploy-cache=kept"
LINE = "Sensitivity of inputs * operators would be noticed at 64 steps, * at 1 step, * modelled*"


def run(pytester: pytest.Pytester, digits: Path, *arguments: str) -> pytest.RunResult:
    return pytester.runpytest(SUITE, f"--tflite={digits.name}", "--tflite-runs=2", "-v", *arguments)


def result_of(pytester: pytest.Pytester, digits: Path) -> dict[str, object]:
    (path,) = pytester.path.glob(f"autodeploy-results/{digits.stem}/*/result.json")
    return result_file(path)


def test_nothing_is_worked_out_unless_it_is_asked_for(
    pytester: pytest.Pytester, digits: Path
) -> None:
    result = run(pytester, digits, CACHE)
    result.stdout.no_fnmatch_line("Sensitivity*")
    assert result_of(pytester, digits)["sensitivity"] is None
    assert not (pytester.path / "kept").exists()


def test_what_was_asked_for_once_is_told_from_then_on(
    pytester: pytest.Pytester, digits: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = run(pytester, digits, CACHE, "--autodeploy-sensitivity")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines([LINE, "input_sensitivity * no limit *"])
    first = result_of(pytester, digits)["sensitivity"]
    monkeypatch.setattr(
        "pytest_autodeploy.diagnosis.sensitivity.measure.sensitivity",
        lambda *_args, **_options: pytest.fail("worked out again"),
    )
    result = run(pytester, digits, CACHE)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines([LINE])
    assert result_of(pytester, digits)["sensitivity"] == first


def test_other_inputs_are_another_question(pytester: pytest.Pytester, digits: Path) -> None:
    run(pytester, digits, CACHE, "--autodeploy-sensitivity")
    for other in ("--tflite-seed=7", "--tflite-tolerance=lsb=2"):
        run(pytester, digits, CACHE, other).stdout.no_fnmatch_line("Sensitivity*")


def test_every_operator_is_in_the_reports(pytester: pytest.Pytester, digits: Path) -> None:
    pytest_html = ("--html=report.html", "--self-contained-html", "--junitxml=j.xml")
    run(pytester, digits, "--autodeploy-cache=off", "--autodeploy-sensitivity", *pytest_html)
    result = result_of(pytester, digits)
    sensitivity = result["sensitivity"]
    assert isinstance(sensitivity, dict)
    model = result["model"]
    assert isinstance(model, dict)
    assert len(sensitivity["operators"]) == model["operators"]
    first = sensitivity["operators"][0]
    assert set(first["changes"]) == {"64 steps", "1 step", "channel"}
    assert first["changes"]["64 steps"] == {
        "first": 0,
        "noticed": True,
        "seen": 1,
        "variants": 1,
    }
    assert sensitivity["complete"] is True
    page = (pytester.path / "report.html").read_text()
    assert "What the inputs would notice" in page
    assert "noticed, first by inference 0" in page
    assert "autodeploy.input_sensitivity" in (pytester.path / "j.xml").read_text()


@pytest.mark.parametrize(("least", "outcome"), [("min=0.5", "passed"), ("min=1", "failed")])
def test_a_limit_is_held_against_the_share_of_operators(
    pytester: pytest.Pytester, digits: Path, least: str, outcome: str
) -> None:
    """Of a change by a step, the last operator's is within the tolerance."""
    limit = f"--tflite-input-sensitivity={least},change=1 step"
    if outcome == "passed":
        limit = f"--tflite-input-sensitivity={least}"
    result = run(pytester, digits, "--autodeploy-cache=off", limit)
    result.assert_outcomes(**{outcome: 1})
    if outcome == "failed":
        result.stdout.fnmatch_lines(
            [
                "digits_cnn on sim:apollo4p_evb: the inputs tell too little",
                "  declared input_sensitivity(min=1, change='1 step') by --tflite-input-*",
                "  limit   1 of the operators, changed by 1 step",
                "  value   * of * (random, seed 42)",
                "  to do: *",
            ]
        )


def test_a_marker_judges_the_inputs_of_its_test(pytester: pytest.Pytester, digits: Path) -> None:
    pytester.makepyfile(
        f"""
        import numpy as np
        import pytest

        @pytest.mark.tflite({digits.name!r})
        @pytest.mark.input_sensitivity(min=0.8)
        def test_it(model_session):
            model_session.run(inputs=2)
        """
    )
    result = pytester.runpytest("--autodeploy-cache=off", "-v")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["input_sensitivity(min=0.8) * pass *"])


@pytest.mark.parametrize("asked", ["--autodeploy-sensitivity", "--tflite-input-sensitivity=min=0"])
def test_what_was_asked_for_and_cannot_be_done_is_red(
    pytester: pytest.Pytester, digits: Path, monkeypatch: pytest.MonkeyPatch, asked: str
) -> None:
    monkeypatch.setattr("pytest_autodeploy.diagnosis.sensitivity.trials.PROGRAM", "no.such")
    result = run(pytester, digits, "--autodeploy-cache=off", asked)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["not judged: digits_cnn on sim:apollo4p_evb: *", "*no.such*"])


def test_operators_that_are_not_known_may_leave_a_limit_unjudged(
    pytester: pytest.Pytester, digits: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "pytest_autodeploy.diagnosis.sensitivity.trials.PROGRAM", "tests.helpers.odd_prober"
    )
    monkeypatch.setenv("ODD_CRASH", "1")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    off = "--autodeploy-cache=off"
    limit = "--tflite-input-sensitivity=min="
    run(pytester, digits, off, f"{limit}0.5").assert_outcomes(passed=1)
    result = run(pytester, digits, off, f"{limit}1")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["not judged: *", "*not known of 1 *died of SIGABRT*"])


@pytest.mark.slow
def test_inputs_are_searched_once_and_made_again_from_then_on(
    pytester: pytest.Pytester, digits: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = run(pytester, digits, CACHE, "--tflite-search-inputs")
    result.assert_outcomes(passed=1)
    first = result_of(pytester, digits)
    assert first["seed"] == 42
    monkeypatch.setattr(
        "pytest_autodeploy.diagnosis.sensitivity.search.search",
        lambda *_args, **_options: pytest.fail("searched again"),
    )
    run(pytester, digits, CACHE, "--tflite-search-inputs").assert_outcomes(passed=1)
    assert result_of(pytester, digits)["agreement"] == first["agreement"]
    (pytester.path / "conftest.py").write_text(
        "def pytest_runtest_teardown(item):\n"
        "    print('inputs:', item.funcargs['model_session'].inputs.origin)\n"
    )
    told = run(pytester, digits, CACHE, "--tflite-search-inputs", "-s")
    told.stdout.fnmatch_lines(["*inputs: searched, seed 42*"])


def test_searched_inputs_have_no_labels(pytester: pytest.Pytester, digits: Path) -> None:
    (pytester.path / "labels.npy").write_bytes(b"")
    result = run(pytester, digits, "--tflite-search-inputs", "--tflite-labels=labels.npy")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--tflite-search-inputs: labels are of the inputs of a file*"])


def test_a_search_that_fails_is_no_run_on_other_inputs(
    pytester: pytest.Pytester, digits: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_autodeploy.diagnosis.sensitivity.trials.PROGRAM", "no.such")
    result = run(pytester, digits, "--autodeploy-cache=off", "--tflite-search-inputs")
    result.assert_outcomes(errors=1)
