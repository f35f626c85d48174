"""Baselines in the plugin: update, compare, marker and ini, classes of failures, reports, xdist."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.result_files import result_file
from tests.helpers.support import MODELS

UPDATE = "--autodeploy-update-baseline"
COMPARE = "--autodeploy-compare"
FILE = Path("autodeploy-baselines", "digits_cnn", "apollo4p_evb.simulated.json")
LATENCY = ("--tflite", "digits_cnn.tflite", "-k", "latency or profile")
SECTION = "*autodeploy: baselines*"

_made: dict[str, str] = {}


@pytest.fixture
def baseline(pytester: pytest.Pytester, digits: Path) -> Path:
    """The baseline of the digits model, made by a real run once and copied from then on."""
    if "text" not in _made:
        pytester.runpytest("--tflite", digits.name, UPDATE)
        _made["text"] = FILE.read_text()
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text(_made["text"])
    return FILE


def slow_board(pytester: pytest.Pytester, percent: float = 8) -> None:
    """Give the simulated board of an inner run longer times."""
    pytester.makeconftest(
        "import pytest\n@pytest.fixture(scope='session')\n"
        f"def evb_options(): return {{'sim_arguments': ['--slowdown', '{percent}']}}\n"
    )


def rewrite(path: Path, change: dict[str, Any]) -> None:
    """Change the conditions in a baseline."""
    plain = json.loads(path.read_text())
    plain["entries"]["HP"]["conditions"] |= change
    path.write_text(json.dumps(plain))


def outcomes(result: pytest.RunResult) -> dict[str, int]:
    """What became of the tests that were chosen."""
    return {k: v for k, v in result.parseoutcomes().items() if k != "deselected"}


def results() -> list[dict[str, Any]]:
    """All JSON results of the inner run."""
    return [result_file(p) for p in Path("autodeploy-results").glob("*/*/result.json")]


def classes() -> set[str]:
    """The classes of the failures in the JSON results."""
    tests = [test for each in results() for test in each["tests"]]
    return {test["failure_class"] for test in tests if test["failure_class"]}


def junit_property(name: str) -> set[str | None]:
    """The values of a property in the JUnit file."""
    root = ET.parse("junit.xml").getroot()  # noqa: S314  # made by the inner run
    return {p.get("value") for p in root.iter("property") if p.get("name") == name}


def test_nothing_is_written_or_compared_unless_asked(
    pytester: pytest.Pytester, digits: Path
) -> None:
    result = pytester.runpytest("--tflite", digits.name, "-k", "latency")
    result.stdout.no_fnmatch_line("*no_regression*")
    result.stdout.no_fnmatch_line(SECTION)
    assert not Path("autodeploy-baselines").exists()


@pytest.mark.usefixtures("baseline")
def test_an_unchanged_model_passes_and_the_file_is_left_alone(pytester: pytest.Pytester) -> None:
    before = FILE.stat().st_mtime_ns
    result = pytester.runpytest(*LATENCY, COMPARE, "-v")
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        ["no_regression()*pass*", SECTION, "*1 metric and 7 layers within what its baseline allows"]
    )
    assert FILE.stat().st_mtime_ns == before


@pytest.mark.usefixtures("baseline")
def test_a_slower_board_fails_with_a_table_and_is_told_everywhere(
    pytester: pytest.Pytester,
) -> None:
    slow_board(pytester)
    files = ("--junitxml", "junit.xml", "--html", "report.html", "--self-contained-html")
    result = pytester.runpytest(*LATENCY, *files, "--autodeploy-summary", "summary.md")
    assert outcomes(result) == {"passed": 1, "failed": 1}
    result.stdout.fnmatch_lines(
        [
            "regression: digits_cnn on sim:apollo4p_evb: worse than its baseline: latency_* +8 %",
            "  declared no_regression() by default",
            f"  baseline {FILE.as_posix()}, of the same model",
            "  metric          baseline      now  change  allowed",
            "  latency_median   24.2 ms  26.1 ms    +8 %      5 %  regression",
            SECTION,
            "digits_cnn on *: worse than its baseline: latency_median +8 %",
        ]
    )
    assert classes() == junit_property("autodeploy.failure_class") == {"regression"}
    assert "| latency\\_median | 24.2 ms | 26.1 ms | +8 % | 5 % | regression |" in (
        Path("summary.md").read_text()
    )
    report = Path("report.html").read_text()
    assert "worse than its baseline: latency_median +8 %" in report
    assert "ad-b" in report


@pytest.mark.usefixtures("baseline")
def test_a_faster_board_passes_and_asks_for_an_update(pytester: pytest.Pytester) -> None:
    slow_board(pytester, -20)
    result = pytester.runpytest(*LATENCY)
    assert result.ret == 0
    result.stdout.fnmatch_lines([f"*improved: latency_median -20 %: update the baseline? {UPDATE}"])


@pytest.mark.usefixtures("baseline")
def test_an_update_accepts_what_is_slower(pytester: pytest.Pytester) -> None:
    slow_board(pytester)
    result = pytester.runpytest(*LATENCY, UPDATE)
    assert result.ret == 0
    result.stdout.fnmatch_lines([SECTION, "*: latency_median 24.2 ms -> 26.1 ms (+8 %)"])
    latency = json.loads(FILE.read_text())["entries"]["HP"]["metrics"]["latency_median"]
    assert latency["value"] > 25_000


@pytest.mark.usefixtures("baseline")
def test_what_breaches_its_own_limit_is_not_written(pytester: pytest.Pytester) -> None:
    before = FILE.read_text()
    result = pytester.runpytest(*LATENCY, UPDATE, "--tflite-latency-budget", "us=1")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines([SECTION, "*: not updated, autodeploy::test_latency* failed"])
    assert classes() == {"over a limit"}
    assert FILE.read_text() == before


@pytest.mark.usefixtures("digits")
class TestWithoutBaseline:
    def test_it_fails_when_a_comparison_was_asked_for(self, pytester: pytest.Pytester) -> None:
        pytester.makepyfile(
            test_it='import pytest\npytestmark = pytest.mark.tflite("digits_cnn.tflite")\n'
            "@pytest.mark.no_regression()\ndef test_marked(model_session): pass\n"
        )
        built_in = ("autodeploy::test_latency", *LATENCY[:2], COMPARE)
        result = pytester.runpytest("test_it.py", *built_in)
        result.stdout.fnmatch_lines(
            [
                "not comparable: digits_cnn on sim:apollo4p_evb: no baseline for this model *",
                "  declared no_regression() by marker",
            ]
        )
        assert outcomes(result) == {"failed": 2}

    def test_it_is_told_when_there_are_other_baselines(self, pytester: pytest.Pytester) -> None:
        Path("autodeploy-baselines").mkdir()
        result = pytester.runpytest(*LATENCY, "-v")
        assert result.ret == 0
        result.stdout.fnmatch_lines(
            ["no_regression()*no limit*", f"*make one with {UPDATE}=new", SECTION]
        )

    def test_new_makes_it(self, pytester: pytest.Pytester) -> None:
        result = pytester.runpytest(*LATENCY, f"{UPDATE}=new")
        assert result.ret == 0
        assert FILE.exists()

    @pytest.mark.parametrize("mode", ["all", "new"])
    def test_what_is_replaced_is_not_compared_with(
        self, pytester: pytest.Pytester, mode: str
    ) -> None:
        result = pytester.runpytest(*LATENCY, f"{UPDATE}={mode}", COMPARE)
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines(["ERROR: --autodeploy-compare compares with the baselines *"])


class TestASecondModelOfThatName:
    """It makes both ids longer."""

    @pytest.fixture
    def two(self, baseline: Path, digits: Path) -> Path:
        """Two different models ``net.tflite``, the first with a baseline made when it was alone."""
        baseline.parent.rename("autodeploy-baselines/net")
        plain = json.loads(Path("autodeploy-baselines/net", FILE.name).read_text())
        plain |= {"model": "net", "file": "a/net.tflite"}
        kept = Path("autodeploy-baselines/net", FILE.name)
        kept.write_text(json.dumps(plain))
        for folder in ("a", "b"):
            Path(folder).mkdir()
        digits.rename("a/net.tflite")
        shutil.copy(MODELS / "kws_ds_cnn.tflite", "b/net.tflite")
        return kept

    RUN = ("--tflite=a", "--tflite=b", "-k", "latency")

    def test_the_baseline_is_still_found(self, pytester: pytest.Pytester, two: Path) -> None:
        slow_board(pytester, 50)
        result = pytester.runpytest(*self.RUN)
        assert outcomes(result) == {"passed": 1, "failed": 1}
        result.stdout.fnmatch_lines(["regression: net on *: latency_median +50 %"])
        result.stdout.fnmatch_lines(
            ["b/net.tflite on *: no baseline for this model on this board (there are some of net)*"]
        )
        assert two.exists()

    def test_an_update_stays_in_its_file(self, pytester: pytest.Pytester, two: Path) -> None:
        assert pytester.runpytest(*self.RUN, UPDATE).ret == 0
        folders = {path.name for path in Path("autodeploy-baselines").iterdir()}
        assert folders == {"net", "b_net.tflite"}
        assert json.loads(two.read_text())["model"] == "net"


class TestNotComparable:
    @pytest.mark.parametrize(
        ("change", "says"),
        [
            ({"clock": "LP", "clock_hz": 96_000_000}, "clock mode HP, of the baseline LP"),
            ({"source": "measured"}, "figures modelled, of the baseline measured"),
        ],
    )
    def test_other_conditions(
        self, pytester: pytest.Pytester, baseline: Path, change: dict[str, Any], says: str
    ) -> None:
        rewrite(baseline, change)
        result = pytester.runpytest(*LATENCY, "--junitxml", "junit.xml")
        assert outcomes(result) == {"failed": 2}
        result.stdout.fnmatch_lines(
            [f"not comparable: *: cannot be held against its baseline: {says}*"]
        )
        assert classes() == junit_property("autodeploy.failure_class") == {"not comparable"}

    def test_the_baseline_of_another_kind_of_board(
        self, pytester: pytest.Pytester, baseline: Path
    ) -> None:
        baseline.rename(baseline.with_name("apollo4p_evb.hardware.json"))
        result = pytester.runpytest(*LATENCY, COMPARE)
        result.stdout.fnmatch_lines(["*: the baseline is of apollo4p_evb.hardware"])
        assert classes() == {"not comparable"}

    @pytest.mark.parametrize(
        ("text", "says"),
        [("{", "*is damaged: Expecting *"), ('{"schema": 9}', "*has schema 9, this version *")],
    )
    def test_a_file_that_is_not_understood(
        self, pytester: pytest.Pytester, baseline: Path, text: str, says: str
    ) -> None:
        baseline.write_text(text)
        result = pytester.runpytest(*LATENCY)
        assert outcomes(result) == {"failed": 2}
        result.stdout.fnmatch_lines([f"not comparable: {says}"])
        update = pytester.runpytest(*LATENCY, UPDATE)
        assert update.ret == pytest.ExitCode.TESTS_FAILED
        update.stdout.fnmatch_lines([SECTION, f"ERROR: *not updated: {says}"])
        assert baseline.read_text() == text

    @pytest.mark.parametrize(
        ("key", "value"),
        [("value", "NaN"), ("value", "9" * 400), ("spread", "1e999"), ("repeats", "-3")],
        ids=["nan", "400 digits", "spread", "repeats"],
    )
    def test_a_number_that_is_none_is_red_in_every_report(
        self, pytester: pytest.Pytester, baseline: Path, key: str, value: str
    ) -> None:
        plain = json.loads(baseline.read_text())
        plain["entries"]["HP"]["metrics"]["latency_median"][key] = "HERE"
        baseline.write_text(json.dumps(plain).replace('"HERE"', value))
        files = ("--html", "report.html", "--self-contained-html")
        result = pytester.runpytest(*LATENCY, *files)
        assert result.ret == pytest.ExitCode.TESTS_FAILED
        assert outcomes(result) == {"failed": 2}
        says = f"{FILE.as_posix()} is damaged: entries.HP.metrics.latency_median.{key} is "
        result.stdout.fnmatch_lines([f"*{says}*", "*NOT JUDGED*"], consecutive=False)
        assert says in Path("report.html").read_text()


@pytest.mark.usefixtures("baseline")
class TestMarker:
    HEAD = 'import pytest\npytestmark = pytest.mark.tflite("digits_cnn.tflite")\n'

    def test_it_measures_what_it_compares(self, pytester: pytest.Pytester) -> None:
        slow_board(pytester)
        pytester.makepyfile(
            test_it=self.HEAD
            + """
@pytest.mark.no_regression(latency="20%", per_layer="20%")
def test_generous(model_session): pass

@pytest.mark.no_regression(latency="1%", per_layer="off")
def test_strict(model_session): pass

@pytest.mark.no_regression(outputs="0%")
def test_unmeasured(model_session): pass

def test_unmarked(model_session): model_session.latency()
"""
        )
        result = pytester.runpytest("test_it.py")
        result.assert_outcomes(passed=2, failed=2)
        result.stdout.fnmatch_lines(["*worse than its baseline: latency_median +8 %"])

    def test_what_it_names_is_measured(self, pytester: pytest.Pytester) -> None:
        pytester.makepyfile(
            test_it=self.HEAD + "@pytest.mark.no_regression(outputs='0%')\n"
            "def test_it(model_session): pass\n"
        )
        result = pytester.runpytest("test_it.py", "-v")
        result.assert_outcomes(passed=1)
        result.stdout.fnmatch_lines(["no_regression(outputs='0%')  no regression   pass *"])

    def test_an_ini_limit_judges_what_a_test_measures(self, pytester: pytest.Pytester) -> None:
        slow_board(pytester)
        pytester.makeini("[pytest]\nautodeploy_no_regression = latency=3%\n")
        pytester.makepyfile(
            test_it=self.HEAD
            + """
def test_slow(model_session): model_session.latency()
def test_small(model_session): model_session.memory()
"""
        )
        pytester.runpytest("test_it.py").assert_outcomes(passed=1, failed=1)


@pytest.mark.usefixtures("digits")
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--tflite-no-regression", "latency=5"), "*latency must be a percentage such as '5%'*"),
        (("--tflite-no-regression", "latency=-5%"), "*latency must be a percentage such as '5%'*"),
        (
            ("--tflite-no-regression", "speed=5%"),
            "*unexpected*'speed'; use no_regression(*",
        ),
        (("--tflite-no-regression", "floor_us=-1"), "*floor_us must be at least 0*"),
        ((UPDATE, "tests"), "*'tests' is not one of all, new"),
        ((UPDATE, "--autodeploy-baselines", "digits_cnn.tflite/x"), "*cannot write to the folder*"),
        (("--autodeploy-history", "digits_cnn.tflite"), "*--autodeploy-history: *not a database*"),
        (("--autodeploy-summary", "digits_cnn.tflite/s.md"), "*cannot write to the folder*"),
    ],
)
def test_a_wrong_option_is_a_usage_error(
    pytester: pytest.Pytester, arguments: tuple[str, ...], says: str
) -> None:
    result = pytester.runpytest(*LATENCY, *arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {says}"])


def faulty_board(pytester: pytest.Pytester, fault: str) -> None:
    """Give the simulated board of an inner run a fault."""
    pytester.makeconftest(
        "import pytest\n@pytest.fixture(scope='session')\n"
        f"def evb_options(): return {{'sim_arguments': ['--fault', '{fault}']}}\n"
    )


@pytest.mark.usefixtures("digits")
@pytest.mark.parametrize(
    ("fault", "expected", "reruns"),
    [("corrupt-output", "wrong output", False), ("die@invoke", "board broke", True)],
)
def test_only_a_broken_board_is_worth_a_retry(
    pytester: pytest.Pytester, fault: str, expected: str, reruns: bool
) -> None:
    faulty_board(pytester, fault)
    readme = (MODELS.parent / "regression_gate" / "README.md").read_text(encoding="utf-8")
    (pattern,) = re.findall(r"--only-rerun '(.*)'", readme)
    arguments = ("--junitxml", "junit.xml", "--reruns", "1", "--only-rerun", pattern)
    result = pytester.runpytest(*LATENCY[:2], "-k", "outputs", *arguments)
    result.stdout.fnmatch_lines([f"{expected}: *"])
    assert ("rerun" in result.parseoutcomes()) is reruns
    assert classes() == junit_property("autodeploy.failure_class") == {expected}


def test_a_board_that_breaks_in_a_users_test_says_so_in_junit(
    pytester: pytest.Pytester, digits: Path
) -> None:
    faulty_board(pytester, "die@invoke")
    pytester.makepyfile(
        test_it='import pytest\n@pytest.mark.tflite("digits_cnn.tflite")\n'
        "def test_it(model_session): model_session.run()\n"
    )
    result = pytester.runpytest("--junitxml", "junit.xml")
    result.stdout.fnmatch_lines(["FAILED *::test_it* - board*"])
    (failure,) = ET.parse("junit.xml").getroot().iter("failure")  # noqa: S314
    assert str(failure.get("message")).startswith("board broke: ")


@pytest.mark.slow
def test_xdist_writes_the_same_as_a_serial_run(pytester: pytest.Pytester, digits: Path) -> None:
    written = {}
    for name, arguments in (("serial", ()), ("parallel", ("-n", "2"))):
        folder = ("--autodeploy-baselines", name, "--autodeploy-history", f"{name}.sqlite")
        run = pytester.runpytest_subprocess("--tflite", digits.name, UPDATE, *folder, *arguments)
        assert run.ret == 0
        (path,) = Path(name).glob("*/*.json")
        written[name] = path.read_bytes()
    assert written["serial"] == written["parallel"]
    compared = ("--autodeploy-baselines", "serial", COMPARE, "-n", "2")
    run = pytester.runpytest_subprocess("--tflite", digits.name, *compared)
    run.stdout.fnmatch_lines([SECTION, "*within what its baseline allows"])


@pytest.mark.usefixtures("baseline")
def test_a_job_gets_its_summary_and_the_report_its_trend(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("job.md").write_text("earlier\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "job.md")
    history = ("--autodeploy-history", "history.sqlite", "--html", "report.html")
    for percent in (0, 0, 10):
        slow_board(pytester, percent)
        pytester.runpytest(*LATENCY, *history)
    summary = Path("job.md").read_text()
    assert summary.startswith("earlier\n## pytest-autodeploy\n")
    assert summary.count("## pytest-autodeploy") == 3
    report = Path("report.html").read_text()
    assert "Trend of digits_cnn on sim:apollo4p_evb at HP" in report
    assert report.count("<circle class=worse") == 1


@pytest.mark.slow
def test_the_story_of_the_example_goes_as_told() -> None:
    story = MODELS.parent / "regression_gate" / "story.py"
    done = subprocess.run(
        [sys.executable, str(story), "-k", "latency or profile", "-p", "no:cacheprovider"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "worse than its baseline: latency_median +34.7 %" in done.stdout
    assert "layers that account for it, worst first" in done.stdout


def test_an_interrupted_update_writes_nothing(pytester: pytest.Pytester, digits: Path) -> None:
    pytester.makepyfile(
        'import pytest\npytestmark = pytest.mark.tflite("digits_cnn.tflite")\n'
        "def test_one(model_session): model_session.latency()\n"
        "def test_two(model_session): raise KeyboardInterrupt\n"
    )
    result = pytester.runpytest_inprocess(UPDATE, no_reraise_ctrlc=True)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["ERROR: baselines were not updated: the run was not completed"])
    assert not FILE.exists()
