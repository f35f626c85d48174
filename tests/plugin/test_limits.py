"""Limits of markers, ini file and options: measured, judged after the body, readable."""

from __future__ import annotations

from pathlib import Path

import pytest

HEAD = 'import pytest\npytestmark = pytest.mark.tflite("digits_cnn.tflite")\n'


def run(pytester: pytest.Pytester, test: str, *arguments: str) -> pytest.RunResult:
    pytester.makepyfile(test_it=HEAD + test)
    return pytester.runpytest("test_it.py", *arguments)


@pytest.mark.usefixtures("digits")
class TestMarkers:
    def test_generous_limits_pass(self, pytester: pytest.Pytester) -> None:
        result = run(
            pytester,
            """
@pytest.mark.output_tolerance(lsb=1)
@pytest.mark.latency_budget(ms=1000, statistic="p95")
@pytest.mark.memory_limit(arena_kb=64, model_kb=64)
def test_it(model_session):
    model_session.run(inputs=5)
""",
        )
        result.assert_outcomes(passed=1)

    def test_a_limit_is_measured_when_the_body_measures_nothing(
        self, pytester: pytest.Pytester
    ) -> None:
        result = run(
            pytester,
            "@pytest.mark.latency_budget(us=1)\ndef test_it(model_session): pass",
        )
        result.assert_outcomes(failed=1)
        result.stdout.fnmatch_lines(
            [
                "digits_cnn on sim:apollo4p_evb: latency median is over its limit",
                "  declared latency_budget(us=1) by marker",
                "  limit   1 us",
                "  value   * ms (modelled)",
                "  over    * ms (* %)",
            ]
        )

    def test_every_breach_is_told(self, pytester: pytest.Pytester) -> None:
        result = run(
            pytester,
            """
@pytest.mark.latency_budget(us=1)
@pytest.mark.memory_limit(arena_kb=0.5, model_kb=1)
def test_it(model_session): pass
""",
        )
        result.assert_outcomes(failed=1)
        for line in ("*latency median is over*", "*arena tuned is over*", "*model size is over*"):
            result.stdout.fnmatch_lines([line])

    def test_outputs_beyond_the_tolerance_name_the_worst_element(
        self, pytester: pytest.Pytester
    ) -> None:
        pytester.makeconftest(
            'import pytest\n@pytest.fixture(scope="session")\n'
            'def evb_options(): return {"sim_arguments": ["--fault", "corrupt-output"]}\n'
        )
        result = run(
            pytester, "@pytest.mark.output_tolerance(lsb=0)\ndef test_it(model_session): pass"
        )
        result.assert_outcomes(failed=1)
        result.stdout.fnmatch_lines(
            [
                "wrong output: digits_cnn on sim:apollo4p_evb: outputs differ from the PC's",
                "  declared output_tolerance(lsb=0) by marker",
                "*output 0 *, inference *, element *",
                "*board *, PC * (* kernels)*",
                "*steps*limit 0 steps*",
                "*elements (* %)*",
            ]
        )
        assert list(Path("autodeploy-results").glob("*/*/*.npz"))

    def test_the_limit_nearest_to_the_test_wins(self, pytester: pytest.Pytester) -> None:
        pytester.makeini("[pytest]\nautodeploy_latency_budget = us=1\n")
        result = run(
            pytester,
            """
@pytest.mark.latency_budget(us=1)
class TestIt:
    @pytest.mark.latency_budget(ms=1000)
    def test_own(self, model_session): model_session.latency()
    def test_of_class(self, model_session): model_session.latency()
""",
        )
        result.assert_outcomes(passed=1, failed=1)

    def test_xfail_works(self, pytester: pytest.Pytester) -> None:
        result = run(
            pytester,
            "@pytest.mark.xfail(reason='known')\n@pytest.mark.latency_budget(us=1)\n"
            "def test_it(model_session): pass",
        )
        result.assert_outcomes(xfailed=1)

    def test_energy_without_a_meter_is_refused_before_anything_runs(
        self, pytester: pytest.Pytester
    ) -> None:
        body = """
@pytest.mark.energy_limit(uj=1)
def test_unjudged(model_session): pass

@pytest.mark.latency_budget(us=1)
def test_breached(model_session): pass
"""
        result = run(pytester, body, "--autodeploy-power=off")
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines(
            ["ERROR: *test_unjudged*energy_limit(uj=1) by marker cannot be judged: *no power*"]
        )
        skip = ("--autodeploy-power=off", "--autodeploy-unjudged=skip", "-rs")
        result = run(pytester, body, *skip)
        result.assert_outcomes(skipped=1, failed=1)
        result.stdout.fnmatch_lines(["SKIPPED * energy_limit(uj=1) is not judged: *no power*"])
        result = run(pytester, body, *skip, "--autodeploy-compare")
        assert result.ret == pytest.ExitCode.USAGE_ERROR


@pytest.mark.usefixtures("digits")
class TestIniAndOptions:
    def test_an_ini_limit_judges_what_was_measured(self, pytester: pytest.Pytester) -> None:
        pytester.makeini("[pytest]\nautodeploy_latency_budget = us=1\n")
        result = run(
            pytester,
            """
def test_measures(model_session): model_session.latency()
def test_does_not(model_session): model_session.memory()
""",
        )
        result.assert_outcomes(passed=1, failed=1)
        result.stdout.fnmatch_lines(["*by ini autodeploy_latency_budget"])

    def test_options_judge_the_built_in_tests(
        self, pytester: pytest.Pytester, digits: Path
    ) -> None:
        limits = (
            *("--tflite-latency-budget", "us=1"),
            *("--tflite-memory-limit", "arena_kb=0.5"),
        )
        result = pytester.runpytest("--tflite", digits.name, *limits)
        result.assert_outcomes(passed=3, failed=2)
        assert result.ret == pytest.ExitCode.TESTS_FAILED


@pytest.mark.usefixtures("digits")
@pytest.mark.parametrize(
    ("marker", "says"),
    [
        (
            "latency_budget(5)",
            "*latency_budget(5)*use latency_budget(ms=, us=, statistic=*",
        ),
        ("latency_budget(ms=-1)", "*ms must be above 0, not -1; use latency_budget(*"),
        ("latency_budget(ms='5')", "*ms must be a number, not '5'; use*"),
        ("latency_budget(ms=float('nan'))", "*ms must be above 0, not nan; use*"),
        ("latency_budget(ms=1, us=1)", "*give either ms or us; use*"),
        (
            "latency_budget(ms=1, statistic='mean')",
            "*'mean' is not one of median, p95, max*",
        ),
        (
            "output_tolerance(steps=1)",
            "*unexpected*'steps'; use output_tolerance(*",
        ),
        ("output_tolerance(reference='gpu')", "*reference='gpu' is not one of auto, ref*"),
        ("memory_limit()", "*give arena_kb, model_kb or both; use memory_limit(*"),
        ("energy_limit()", "*missing 1 required*'uj'*use energy_limit(uj=, mode='HP')"),
        ("evb()", "*wrong use of the marker evb; use evb(*names)"),
        ("evb('sim:apolo4p_evb')", "*unknown board 'sim:apolo4p_evb'"),
        ("tflite('a', 'b')", "*wrong use of the marker tflite; use tflite(path)"),
    ],
)
def test_wrong_use_of_a_marker_is_a_usage_error(
    pytester: pytest.Pytester, marker: str, says: str
) -> None:
    result = run(pytester, f"@pytest.mark.{marker}\ndef test_it(model_session): pass")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: test_it.py::test_it: {says}"])


@pytest.mark.usefixtures("digits")
def test_a_limit_without_a_session_is_a_usage_error(pytester: pytest.Pytester) -> None:
    result = run(pytester, "@pytest.mark.latency_budget(ms=1)\ndef test_it(): pass")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*marker latency_budget needs the fixture model_session*"])


def test_a_test_without_a_model_is_a_usage_error(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_it(model_session): pass")
    result = pytester.runpytest()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: *::test_it: no model; mark it with*or give --tflite=PATH"])
