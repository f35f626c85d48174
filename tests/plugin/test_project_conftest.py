"""What the conftest of a project is promised: its hooks and fixtures hold for built-in tests."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

pytestmark = pytest.mark.usefixtures("digits")

MODEL = "--tflite=digits_cnn.tflite"
TEST = "autodeploy::test_latency[digits_cnn-sim:apollo4p_evb]"
NAMED = ("autodeploy::test_latency", "-p", "no:cacheprovider")
HOOKS = (
    "pytest_itemcollected",
    "pytest_runtest_setup",
    "pytest_runtest_call",
    "pytest_runtest_teardown",
    "pytest_runtest_makereport",
)

CONFTEST = """
import os
from pathlib import Path
import pytest

def note(what, item):
    worker = os.environ.get("PYTEST_XDIST_WORKER", "alone")
    with Path(__file__).with_name(f"{worker}.log").open("a") as file:
        file.write(f"{what} {item.nodeid}\\n")

def pytest_itemcollected(item): note("pytest_itemcollected", item)
def pytest_runtest_setup(item): note("pytest_runtest_setup", item)
def pytest_runtest_call(item): note("pytest_runtest_call", item)
def pytest_runtest_teardown(item): note("pytest_runtest_teardown", item)
def pytest_runtest_makereport(item, call): note("pytest_runtest_makereport", item)

@pytest.fixture(autouse=True)
def rig(request):
    note("autouse", request.node)

@pytest.fixture(scope="session")
def model_session_options():
    return {"latency_runs": 3}
"""


def noted(folder: Path) -> Counter[str]:
    """How often each hook and fixture was called for the test, in all processes."""
    lines = [line for log in folder.glob("*.log") for line in log.read_text().splitlines()]
    return Counter(line.split(" ")[0] for line in lines if line.endswith(f" {TEST}"))


@pytest.mark.parametrize(
    "arguments", [(), NAMED, (*NAMED, "-n", "1")], ids=["all", "named", "xdist"]
)
@pytest.mark.parametrize("start", [".", "below"])
@pytest.mark.slow
def test_hooks_and_fixtures_of_the_root_conftest_are_called(
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    start: str,
) -> None:
    pytester.makeconftest(CONFTEST)
    pytester.makeini("[pytest]\n")
    pytester.mkdir("below")
    monkeypatch.chdir(start)
    model = f"--tflite={pytester.path / 'digits_cnn.tflite'}"

    result = pytester.runpytest_subprocess(model, *arguments)

    assert result.ret == 0
    calls = noted(pytester.path)
    assert calls == dict.fromkeys(HOOKS, 1) | {"autouse": 1, "pytest_runtest_makereport": 3}


def test_a_report_that_the_conftest_changes_is_changed(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        "import pytest\n"
        "@pytest.hookimpl(wrapper=True)\n"
        "def pytest_runtest_makereport(item, call):\n"
        "    report = yield\n"
        "    report.sections.append(('Captured rig', 'bench 7'))\n"
        "    return report\n"
        "def pytest_runtest_setup(item):\n"
        "    if 'outputs' in item.name:\n"
        "        pytest.fail('the rig is reserved', pytrace=False)\n"
    )

    result = pytester.runpytest(MODEL, "-k", "outputs or latency")

    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*the rig is reserved*", "bench 7"])


def test_hooks_of_a_folder_below_are_for_its_own_tests(pytester: pytest.Pytester) -> None:
    tests = pytester.mkdir("tests")
    (tests / "conftest.py").write_text(
        "import pytest\ndef pytest_runtest_setup(item): pytest.fail('not for you')\n"
    )
    (tests / "test_it.py").write_text("def test_it(): pass\n")

    result = pytester.runpytest(MODEL, "tests", "-k", "latency or test_it")

    result.assert_outcomes(passed=1, errors=1)
