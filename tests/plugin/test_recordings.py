"""``--evb-record`` and ``--evb recorded:FILE`` in runs: limits judged again without the board."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.helpers.recordings import MEASURES, recorded

VOLATILE = ("run", "test", "nodeid", "files", "id", "recorded", "provenance")
"""What may differ between a run and its replay; docs/how-to/recordings.md names it, too."""

DIGITS = "--tflite=digits_cnn.tflite"
FAST = ("-k=latency or outputs or profile",)


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a session, without a run."""
    return recorded(tmp_path_factory.mktemp("rec"), MEASURES).path


def result_of(folder: Path) -> dict[str, Any]:
    (path,) = folder.rglob("result.json")
    result: dict[str, Any] = json.loads(path.read_text())
    return result


def stable(value: Any) -> Any:
    """A result without what may differ."""
    if isinstance(value, dict):
        return {name: stable(item) for name, item in value.items() if name not in VOLATILE}
    return [stable(item) for item in value] if isinstance(value, list) else value


@pytest.mark.usefixtures("digits")
def test_a_replay_gives_the_same_results_and_says_when_they_were_recorded(
    pytester: pytest.Pytester,
) -> None:
    run = pytester.runpytest(DIGITS, "--evb-record=rec", "--autodeploy-output=live", *FAST)
    run.assert_outcomes(passed=3, deselected=2)
    (file,) = (pytester.path / "rec").iterdir()
    size = f"{file.stat().st_size / 1024:.1f} KB"
    run.stdout.fnmatch_lines([f"autodeploy: recorded rec/{file.name} ({size})"])
    outputs = ("--autodeploy-output=again", "--html=a.html", "--junitxml=a.xml")
    logged = ("--autodeploy-result-log=log.csv", "-p", "no:randomly")
    board = f"--evb=recorded:rec/{file.name}"
    replay = pytester.runpytest(DIGITS, board, *outputs, *logged, *FAST)
    replay.assert_outcomes(passed=3, deselected=2)
    live, again = result_of(pytester.path / "live"), result_of(pytester.path / "again")
    assert stable(live) == stable(again)
    words = again["board"]["recorded"]
    assert words.startswith("recorded on 20")
    assert words.endswith(" from apollo4p_evb")
    assert live["board"]["recorded"] is None
    replay.stdout.fnmatch_lines([f"autodeploy: recorded:*; {words}", f"NOTE digits_cnn*: {words}"])
    (csv,) = (pytester.path / "again").rglob("*.csv")
    assert csv.read_text().splitlines()[1].endswith(f"modelled ({words})")
    assert f"modelled ({words})" in (pytester.path / "log.csv").read_text()
    assert words in (pytester.path / "a.html").read_text()
    properties = ElementTree.parse(pytester.path / "a.xml").iter("property")  # noqa: S314  # our own
    assert ("autodeploy.board_recorded", words) in {
        (p.get("name"), p.get("value")) for p in properties
    }


@pytest.mark.usefixtures("digits")
def test_a_tighter_limit_fails_without_the_board(
    pytester: pytest.Pytester, recording: Path
) -> None:
    board = f"--evb=recorded:{recording}"
    only = ("--tflite-latency-runs=5", "-k=latency")
    loose = pytester.runpytest(DIGITS, board, *only, "--tflite-latency-budget=ms=100")
    loose.assert_outcomes(passed=1, deselected=4)
    tight = pytester.runpytest(DIGITS, board, *only, "--tflite-latency-budget=ms=1")
    tight.assert_outcomes(failed=1, deselected=4)
    tight.stdout.fnmatch_lines(["*latency*24*ms*"])


@pytest.mark.usefixtures("digits")
def test_what_was_not_recorded_fails_and_breaks_no_other_test(
    pytester: pytest.Pytester, recording: Path
) -> None:
    board = f"--evb=recorded:{recording}"
    only = (
        "--tflite-latency-runs=500",
        "-k=latency or fits or energy",
        "--autodeploy-power-modes=HP",
    )
    run = pytester.runpytest(DIGITS, board, *only)
    run.assert_outcomes(failed=1, passed=2, deselected=2)
    run.stdout.fnmatch_lines(["*invoke: only *inferences like these were recorded*"])


@pytest.mark.usefixtures("digits")
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--evb-require-hardware",), "*is not a hardware board, it was recorded on 20*"),
        (("--evb-record=rec",), "*--evb-record: recorded:* is a recording already*"),
        (("--evb-port=socket://127.0.0.1:1",), "*--evb-port: recorded:* has no port*"),
    ],
)
def test_what_cannot_be_asked_of_a_recording_is_a_usage_error(
    pytester: pytest.Pytester, recording: Path, options: tuple[str, ...], words: str
) -> None:
    run = pytester.runpytest(DIGITS, f"--evb=recorded:{recording}", *options)
    assert run.ret == pytest.ExitCode.USAGE_ERROR
    run.stderr.fnmatch_lines([words])


@pytest.mark.usefixtures("digits")
def test_a_file_that_is_no_recording_is_a_usage_error(pytester: pytest.Pytester) -> None:
    run = pytester.runpytest(DIGITS, "--evb=recorded:digits_cnn.tflite")
    assert run.ret == pytest.ExitCode.USAGE_ERROR
    run.stderr.fnmatch_lines(["*digits_cnn.tflite is no recording*"])


@pytest.mark.usefixtures("digits")
def test_a_run_that_recorded_nothing_is_red(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_model(tflite_model): assert tflite_model")
    run = pytester.runpytest(DIGITS, "--tflite-no-suite", "--evb-record=rec")
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    run.stdout.fnmatch_lines(["ERROR: *nothing was recorded*"])
