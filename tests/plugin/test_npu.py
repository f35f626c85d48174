"""Ethos-U estimates in the plugin: built-in test, fixture, marker, reports."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.helpers import tflite_builder
from tests.helpers.result_files import result_file

pytestmark = pytest.mark.skipif(
    find_spec("ethosu") is None, reason="needs the extra 'vela' (ethos-u-vela)"
)

HEAD = 'import pytest\npytestmark = pytest.mark.tflite("digits_cnn.tflite")\n'
CACHE = ("--autodeploy-cache", "cache")


def run(pytester: pytest.Pytester, test: str, *arguments: str) -> pytest.RunResult:
    pytester.makepyfile(test_it=HEAD + test)
    return pytester.runpytest("test_it.py", *CACHE, *arguments)


def test_every_accelerator_is_a_row(pytester: pytest.Pytester, digits: Path) -> None:
    npus = ("--tflite-npu", "ethos-u55-128", "--tflite-npu", "ethos-u85-256")
    html = ("--html", "report.html", "--self-contained-html")
    result = pytester.runpytest("--tflite", digits.name, "-k", "npu", *npus, *CACHE, *html)
    result.assert_outcomes(passed=2, deselected=5)
    result.stdout.fnmatch_lines(
        [
            "*autodeploy: Ethos-U estimates of digits_cnn*",
            "Accelerator *On the NPU *Cycles (estimated)*",
            "ethos-u* of * operators *",
        ]
    )
    results = sorted(Path("autodeploy-results").glob("*/ethos-u*/result.json"))
    assert len(results) == 2
    plain = result_file(results[0])
    assert plain["board"]["source"] == "estimated"
    assert plain["npu"]["totals"]["total_cycles"] > 0
    assert (results[0].parent / "digits_cnn.csv").read_text().count("\n") > 3
    assert "ethos-u85-256" in Path("report.html").read_text()


def test_the_second_run_does_not_start_vela(
    pytester: pytest.Pytester, digits: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ("--tflite", digits.name, "-k", "npu", "--tflite-npu", "ethos-u55-128", *CACHE)
    pytester.runpytest(*arguments).assert_outcomes(passed=1, deselected=5)

    def refuse(*_args: object, **_kwargs: object) -> None:
        raise AssertionError("Vela was started")

    monkeypatch.setattr("subprocess.Popen.__init__", refuse)
    pytester.runpytest(*arguments).assert_outcomes(passed=1, deselected=5)


@pytest.mark.usefixtures("digits")
class TestBudgets:
    def test_a_tight_budget_fails_with_the_worst_operators(self, pytester: pytest.Pytester) -> None:
        result = run(
            pytester,
            '@pytest.mark.npu_budget(accelerator="ethos-u55-128", cycles=10, sram_kb=1000)\n'
            "def test_it(npu_estimate): pass\n",
        )
        result.assert_outcomes(failed=1)
        result.stdout.fnmatch_lines(
            [
                "digits_cnn on ethos-u55-128: npu total cycles is over its limit",
                "  limit   10",
                "  value   * (estimated)",
                "  worst operators",
                "    #* CONV_2D  * cycles, * %  *",
            ]
        )

    def test_each_accelerator_has_its_own_budget(self, pytester: pytest.Pytester) -> None:
        result = run(
            pytester,
            '@pytest.mark.npu_budget(accelerator="ethos-u55-128", cycles=1e9)\n'
            '@pytest.mark.npu_budget(accelerator="ethos-u85-256", cycles=10)\n'
            "def test_it(npu_estimate): pass\n",
        )
        result.assert_outcomes(passed=1, failed=1)

    def test_the_option_judges_the_built_in_test(
        self, pytester: pytest.Pytester, digits: Path
    ) -> None:
        limits = ("--tflite-npu", "ethos-u55-128", "--tflite-npu-budget", "cycles=10")
        result = pytester.runpytest("--tflite", digits.name, "-k", "npu", *CACHE, *limits)
        result.assert_outcomes(failed=1, deselected=5)

    def test_board_and_estimate_can_be_judged_together(self, pytester: pytest.Pytester) -> None:
        result = run(
            pytester,
            '@pytest.mark.npu_budget(accelerator="ethos-u55-128", min_coverage=0.9)\n'
            "@pytest.mark.latency_budget(us=1)\n"
            "def test_it(model_session, npu_estimate): pass\n",
        )
        result.assert_outcomes(failed=1)
        result.stdout.fnmatch_lines(["*latency median is over its limit"])


def test_a_float_model_has_no_figures(pytester: pytest.Pytester) -> None:
    Path("float.tflite").write_bytes(tflite_builder.fully_connected("float32"))
    npu = ("--tflite-npu", "ethos-u55-128", *CACHE)
    result = pytester.runpytest("--tflite", "float.tflite", "-k", "npu", *npu)
    result.assert_outcomes(passed=1, deselected=5)
    result.stdout.fnmatch_lines(["*nothing runs on the NPU*"])


@pytest.mark.usefixtures("digits")
@pytest.mark.parametrize(
    ("test", "says"),
    [
        ("def test_it(npu_estimate): pass", "*no accelerator; give @pytest.mark.npu_budget(*"),
        (
            "@pytest.mark.npu_budget(accelerator='u55', cycles=1)\ndef test_it(npu_estimate): pass",
            "*unknown accelerator 'u55'*",
        ),
        (
            "@pytest.mark.npu_budget(cycles=1)\ndef test_it(model_session): pass",
            "*the marker npu_budget needs the fixture npu_estimate*",
        ),
        (
            "@pytest.mark.npu_budget(accelerator='ethos-u55-32')\ndef test_it(npu_estimate): pass",
            "*give one of cycles, ms, sram_kb*use npu_budget(accelerator=, cycles=*",
        ),
    ],
)
def test_wrong_use_is_a_usage_error(pytester: pytest.Pytester, test: str, says: str) -> None:
    result = run(pytester, test)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {says}"])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--tflite-npu", "ethos-u55-64x"), "unknown accelerator 'ethos-u55-64x'"),
        (("--tflite-npu", "ethos-u55-64", "--tflite-npu-config", "no.ini"), "*no.ini*"),
        (("--tflite-npu", "ethos-u55-64", "--tflite-npu-memory-mode", "X"), "*'X'*"),
        (("--tflite-npu-budget", "cycles=-1"), "*cycles must be above 0*"),
    ],
)
def test_a_wrong_option_is_a_usage_error(
    pytester: pytest.Pytester, digits: Path, arguments: tuple[str, ...], says: str
) -> None:
    result = pytester.runpytest("--tflite", digits.name, *arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {says}"])
