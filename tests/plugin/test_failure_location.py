"""Where a failure is shown: one block, and the user's test as its place, in every style."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.helpers.broken_boards import break_board

OUTSIDE = {
    "judging": """
@pytest.mark.latency_budget(ms=5)  # here
def test_it(model_session):
    pass
""",
    "setup": """
@pytest.fixture
def warm(model_session):
    model_session.run()  # here

def test_it(warm):
    pass
""",
    "teardown": """
@pytest.fixture
def late(model_session):
    yield
    model_session.run()  # here

def test_it(late):
    pass
""",
}
BODY = """
def test_it(model_session):
    model_session.run()  # here
"""
OVER_LIMIT = """
@pytest.mark.memory_limit(model_kb=0.001)  # here
def test_it(model_session):
    pass
"""
WORDS = "board broke: sim:apollo4p_evb: infer: its process died of SIGSEGV after N s"
TIMED = WORDS.replace("infer", "invoke")
PACKAGE = str(Path("pytest_autodeploy", "x"))[:-1]


def run(pytester: pytest.Pytester, tests: dict[str, str], *arguments: str) -> str:
    """What pytest shows of failures on a board that dies when it runs a model.

    Each test has a model of its own: a board that broke twice with a model is not tried again.
    """
    break_board(pytester, "die@invoke")
    for name, test in tests.items():
        shutil.copy(pytester.path / "digits_cnn.tflite", pytester.path / f"{name}.tflite")
        head = f'import pytest\npytestmark = pytest.mark.tflite("{name}.tflite")\n'
        pytester.makepyfile(**{f"test_{name}": head + test})
    result = pytester.runpytest(*(f"test_{name}.py" for name in tests), *arguments)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    output = re.sub(r" after [\d.e-]+ s$", " after N s", result.stdout.str(), flags=re.MULTILINE)
    return output[: output.index("= autodeploy: ")]


def place_of(name: str, test: str) -> str:
    """The line where a test breaks, as pytest writes it."""
    line = next(n for n, line in enumerate(test.splitlines(), 3) if line.endswith("# here"))
    return f"test_{name}.py:{line}:"


@pytest.mark.usefixtures("digits")
@pytest.mark.parametrize("style", ["auto", "long", "short", "native"])
def test_a_board_that_breaks_outside_the_body_is_one_block_with_the_users_line(
    pytester: pytest.Pytester, style: str
) -> None:
    shown = run(pytester, OUTSIDE, f"--tb={style}")
    assert PACKAGE not in shown
    for name, test in OUTSIDE.items():
        words = TIMED if name == "judging" else WORDS
        assert f"___\n{words}\n\n{place_of(name, test)} BoardDied\n" in shown
    titles = 2
    blocks = shown[shown.index("= ERRORS =") :].splitlines()[:-1]
    assert len(blocks) == titles + 4 * len(OUTSIDE)


@pytest.mark.usefixtures("digits")
@pytest.mark.parametrize("style", ["auto", "long", "short", "line", "native", "no"])
def test_no_style_shows_a_frame_of_the_plugin(pytester: pytest.Pytester, style: str) -> None:
    shown = run(pytester, {"body": BODY, "limit": OVER_LIMIT}, f"--tb={style}")
    assert PACKAGE not in shown
    body, limit = place_of("body", BODY), place_of("limit", OVER_LIMIT)
    expected = {"native": f'{body[:-3]}", line {body[-2]}, in test_it', "no": ""}.get(style, body)
    assert expected in shown
    assert (limit in shown) == (style == "line")


@pytest.mark.usefixtures("digits")
def test_the_line_style_has_the_users_line_and_the_whole_message(
    pytester: pytest.Pytester,
) -> None:
    shown = run(pytester, OUTSIDE, "--tb=line").splitlines()
    judging, setup, teardown = (place_of(name, test) for name, test in OUTSIDE.items())
    assert f"{pytester.path / judging} {TIMED}" in shown
    assert f"{setup} BoardDied" in shown
    assert f"{teardown} BoardDied" in shown


@pytest.mark.usefixtures("digits")
@pytest.mark.slow
def test_a_worker_of_xdist_shows_the_same_places(pytester: pytest.Pytester) -> None:
    tests = {**OUTSIDE, "body": BODY}
    shown = run(pytester, tests, "-n", "1")
    assert PACKAGE not in shown
    for name, test in tests.items():
        assert f"{place_of(name, test)} BoardDied" in shown


@pytest.mark.usefixtures("digits")
def test_full_trace_keeps_the_frames_of_the_plugin(pytester: pytest.Pytester) -> None:
    assert "proven.py" in run(pytester, {"body": BODY}, "--full-trace")


@pytest.mark.usefixtures("digits")
def test_a_line_of_a_built_in_test_is_not_cut(pytester: pytest.Pytester) -> None:
    break_board(pytester, "die@invoke")
    result = pytester.runpytest("--tflite", "digits_cnn.tflite", "--tb=line", "-k", "agree")
    result.stdout.fnmatch_lines([f"*builtin.py:*: {WORDS.replace('N', '*')}"])
