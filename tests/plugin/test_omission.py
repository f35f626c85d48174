"""No green by omission: a limit that was declared is judged, or the run is red."""

from __future__ import annotations

import itertools
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.support import DIGITS

pytestmark = pytest.mark.usefixtures("digits")

MODEL = f"--tflite={DIGITS.name}"
HEAD = "import pytest\npytestmark = pytest.mark.tflite('digits_cnn.tflite')\n"
OFF = "--autodeploy-power=off"


def run(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    """A run in a process of its own, of which nothing is left: its conftest may break classes."""
    return pytester.runpytest_subprocess(*arguments)


REFUSED = [
    ((OFF, "--tflite-energy-limit=uj=1"), "*energy_limit(uj=1)*no power meter*"),
    ((OFF, "--tflite-power-limit=mw=1"), "*power_limit(mw=1)*no power meter*"),
    ((OFF, "--tflite-no-regression=energy=1%"), "*no_regression(energy='1%')*no power meter*"),
    (("--evb=apollo4p_evb", "--tflite-energy-limit=uj=1"), "*apollo4p_evb: no power meter*"),
    (("--tflite-npu-budget=cycles=1",), "*no accelerator; give --tflite-npu ACCELERATOR*"),
    (("--tflite-accuracy=min=0.9",), "*there are no labels*"),
    (("--tflite-latency-budget=ms=1", "--tflite-no-suite"), "*is for the built-in tests*"),
    (("--tflite-latency-budget=ms=1;ms=2",), "*is declared at the same place*"),
    (("--autodeploy-compare", "--autodeploy-update-baseline"), "*compares with the baselines*"),
]


def with_workers() -> Iterator[Any]:
    """Each of them without workers and with two, which takes seconds: the first one is enough."""
    for number, (arguments, says) in enumerate(REFUSED):
        yield pytest.param(arguments, says, ())
        marks = [pytest.mark.slow] if number else []
        yield pytest.param(arguments, says, ("-n", "2"), marks=marks)


@pytest.mark.parametrize(("arguments", "says", "workers"), [*with_workers()])
def test_what_cannot_be_judged_is_a_usage_error_before_anything_runs(
    pytester: pytest.Pytester, arguments: tuple[str, ...], says: str, workers: tuple[str, ...]
) -> None:
    result = pytester.runpytest(MODEL, *arguments, *workers)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    text = result.outlines + result.errlines
    assert [line for line in text if line.startswith("ERROR: ")]
    pytest.LineMatcher(text).fnmatch_lines([says])
    assert not Path("autodeploy-results", "digits_cnn").exists()


def test_a_test_that_is_deselected_owes_nothing(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest(MODEL, OFF, "--tflite-energy-limit=uj=1", "-k", "latency")
    assert result.ret == 0


def test_limits_of_the_ini_file_leave_other_tests_alone(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nautodeploy_energy_limit = uj=1\nautodeploy_latency_budget = ms=1\n")
    pytester.mkdir("unit")
    Path("unit", "test_unit.py").write_text("def test_it(): pass\n", encoding="utf-8")
    assert pytester.runpytest("unit").ret == 0


@pytest.mark.slow
def test_the_last_of_the_users_tests_judges_what_the_ini_file_declares(
    pytester: pytest.Pytester,
) -> None:
    pytester.makeini("[pytest]\nautodeploy_latency_budget = us=1\n")
    pytester.makepyfile(
        test_it=HEAD + "def test_a(model_session): pass\ndef test_b(model_session): pass\n"
    )
    result = run(pytester, "test_it.py")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*test_b*", "*by ini autodeploy_latency_budget"])
    assert run(pytester, "test_it.py", "-n", "2").ret == 1


@pytest.mark.slow
def test_a_mode_without_a_capture_is_not_judged(pytester: pytest.Pytester) -> None:
    energy = ("-k", "energy", "--autodeploy-power-window=0.1")
    assert run(pytester, MODEL, *energy, "--autodeploy-save-capture").ret == 0
    captures = shutil.move("autodeploy-results/captures", "captures")
    for capture in Path(captures).glob("*LP.jls"):
        capture.unlink()
    replay = f"--autodeploy-power=replay:{captures}"
    assert run(pytester, MODEL, *energy, replay).ret == 0
    result = run(pytester, MODEL, *energy, replay, "--tflite-power-limit=mw=100,mode=LP")
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["not judged: *power_limit(mw=100, mode='LP') could not be judged", "*no capture of*at LP*"]
    )


def test_stacked_limits_are_all_judged(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_it=HEAD
        + """
@pytest.mark.memory_limit(arena_kb=0.1)
@pytest.mark.memory_limit(model_kb=640)
def test_memory(model_session): pass

@pytest.mark.latency_budget(ms=0.1)
@pytest.mark.latency_budget(ms=1000, statistic="p95")
def test_latency(model_session): pass
"""
    )
    result = pytester.runpytest("test_it.py")
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["latency_budget(ms=1000, statistic='p95') * pass *"])


def test_a_project_that_skips_a_built_in_test_is_told(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        "import pytest\n"
        "def pytest_collection_modifyitems(items):\n"
        "    for item in items:\n"
        "        if 'latency' in item.name:\n"
        "            item.add_marker(pytest.mark.skip(reason='slow'))\n"
    )
    quiet = pytester.runpytest(MODEL, "-k", "latency")
    assert quiet.ret == 0
    result = pytester.runpytest(MODEL, "-k", "latency", "--tflite-latency-budget=ms=1")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["ERROR: *test_latency*latency_budget(ms=1) by * was not judged"])


LIMITS = {
    "latency_budget(ms=1000)": "ModelSession.latency",
    "latency_budget(ms=1000, statistic='p95')": "ModelSession.latency",
    "memory_limit(model_kb=640)": "ModelSession.memory",
    "output_tolerance(lsb=1)": "ModelSession.run",
    "input_sensitivity(min=0.1)": "ModelSession.run",
    "energy_limit(uj=100000)": "PowerMeter.measure",
    "power_limit(mw=100000, mode='LP')": "PowerMeter.measure",
}
"""Limits that hold, and the method that measures what they need."""

BREAKS = """
import pytest
from pytest_autodeploy.power.measure import PowerMeter
from pytest_autodeploy.session.model_session import ModelSession
from pytest_autodeploy.base.errors import AutodeployError

def impossible(self, *args, **kwargs):
    raise AutodeployError("it cannot be measured", hint="look at the cable")

{method} = impossible
"""


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.slow
def test_no_stack_of_limits_is_green_when_a_measurement_is_impossible(
    pytester: pytest.Pytester, seed: int
) -> None:
    random_numbers = random.Random(seed)
    chosen = random_numbers.sample(sorted(LIMITS), random_numbers.randint(1, len(LIMITS)))
    broken = LIMITS[random_numbers.choice(chosen)]
    extras: list[tuple[str, ...]] = [(), ("-n", "2"), ("--reruns=1",)]
    marks = "".join(f"@pytest.mark.{limit}\n" for limit in chosen)
    pytester.makepyfile(test_it=f"{HEAD}{marks}def test_it(model_session): pass\n")
    pytester.makeconftest(BREAKS.format(method=broken))
    result = run(
        pytester, "test_it.py", "--autodeploy-power-window=0.05", *random_numbers.choice(extras)
    )
    assert result.ret == 1
    hit = [limit for limit in chosen if LIMITS[limit] == broken]
    for limit in hit:
        pytest.LineMatcher(result.outlines).fnmatch_lines(
            [f"{limit} * NOT JUDGED * marker"], consecutive=False
        )
    result.stdout.fnmatch_lines(["*it cannot be measured*look at the cable*"])
    told = [line for line in result.outlines if " NOT JUDGED " in line]
    assert len(told) == len(hit)


@pytest.mark.slow
def test_each_way_to_combine_levels(pytester: pytest.Pytester) -> None:
    """Of markers on a module, a class and a test, the closest wins for each keyword."""
    levels = ("module", "class", "test")
    for declared in itertools.product((False, True), repeat=3):
        budgets = {level: 1000 if level == "test" else 0.001 for level in levels}
        module, of_class, of_test = (
            f"pytest.mark.latency_budget(ms={budgets[level]})" if given else ""
            for level, given in zip(levels, declared, strict=True)
        )
        pytester.makepyfile(
            test_it="import pytest\n"
            f"pytestmark = [pytest.mark.tflite('digits_cnn.tflite'){module and f', {module}'}]\n"
            f"{of_class and f'@{of_class}'}\nclass TestIt:\n"
            f"    {of_test and f'@{of_test}'}\n"
            "    def test_it(self, model_session): pass\n"
        )
        result = run(pytester, "test_it.py")
        assert (result.ret == 0) == (declared[2] or not any(declared)), declared
