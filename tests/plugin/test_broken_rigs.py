"""Boards of a rig that break: another one, a power cycle, out of the run, and in quarantine."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pytest_autodeploy.baseline.history import History
from pytest_autodeploy.catalog.rig_state import RigState
from tests.helpers.rigs import running_boards, write_rig
from tests.helpers.support import DIGITS

DIES = ("--fault", "die@invoke#2")
FAST = ("-k", "latency or profile")


@contextmanager
def rig_of(folder: Path, faults: dict[str, tuple[str, ...]], **more: str) -> Iterator[Path]:
    """A rig of boards that run the digits model, each with faults of its own."""
    with running_boards(folder, dict.fromkeys(faults, DIGITS), faults=faults) as ports:
        yield write_rig(folder / "lab.toml", ports, **more)


def models(pytester: pytest.Pytester, *names: str) -> list[str]:
    """Options for copies of the digits model."""
    for name in names:
        (pytester.path / f"{name}.tflite").write_bytes(DIGITS.read_bytes())
    return [f"--tflite={name}.tflite" for name in names]


def results(pytester: pytest.Pytester) -> list[dict[str, Any]]:
    paths = sorted(pytester.path.glob("autodeploy-results/*/*/result.json"))
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths]


def test_a_model_passes_on_the_second_board_and_every_report_says_so(
    pytester: pytest.Pytester, tmp_path: Path
) -> None:
    files = ("--junit-xml=j.xml", "--html=r.html", "--autodeploy-summary=s.md")
    kept = ("--autodeploy-history=h.sqlite", "--autodeploy-update-baseline")
    with rig_of(tmp_path, {"lab-a": DIES, "lab-b": ()}) as rig:
        run = pytester.runpytest(*models(pytester, "m"), f"--evb-rig={rig}", *FAST, *files, *kept)
    assert run.parseoutcomes() == {"passed": 2, "deselected": 2, "broke": 1}
    told = (
        "FLAKY autodeploy::test_latency*: passed on the second board, lab-b; earlier: on lab-a: *"
    )
    run.stdout.fnmatch_lines([told])
    run.stdout.fnmatch_lines(["m on sim:apollo4p_evb: not updated, *needed a rerun"])
    (result,) = results(pytester)
    assert result["board"]["rig_name"] == "lab-b"
    (latency,) = [test for test in result["tests"] if "test_latency" in test["nodeid"]]
    assert [(each["board"], each["again"]) for each in latency["attempts"]] == [
        ("lab-a", "second board")
    ]
    for file in ("j.xml", "r.html", "s.md"):
        text = Path(file).read_text(encoding="utf-8")
        assert "lab-a" in text, file
        assert "board broke" in text, file
    health = {each.name: each for each in History(Path("h.sqlite")).health()}
    assert (health["lab-a"].breaks, health["lab-b"].breaks) == (1, 0)


def test_what_each_board_measured_is_apart(pytester: pytest.Pytester, tmp_path: Path) -> None:
    pytester.makepyfile(
        test_it="""
import pytest
pytestmark = pytest.mark.tflite("m.tflite")

def test_first(model_session):
    model_session.memory()

def test_second(model_session):
    model_session.latency()
"""
    )
    models(pytester, "m")
    with rig_of(tmp_path, {"lab-a": ("--fault", "die@invoke"), "lab-b": ()}) as rig:
        run = pytester.runpytest("test_it.py", f"--evb-rig={rig}")
    assert run.parseoutcomes() == {"passed": 2, "broke": 1}
    by_board = {
        result["board"]["rig_name"]: {item["name"] for item in result["measurements"]}
        for result in results(pytester)
    }
    assert "latency_median" not in by_board["lab-a"]
    assert "arena_used" in by_board["lab-a"]
    assert "latency_median" in by_board["lab-b"]
    assert "arena_used" not in by_board["lab-b"]


@pytest.mark.slow
def test_a_model_that_breaks_both_boards_is_red_and_no_board_is_out(
    pytester: pytest.Pytester, tmp_path: Path
) -> None:
    faults = {"lab-a": DIES, "lab-b": DIES, "lab-c": ()}
    with rig_of(tmp_path, faults) as rig:
        run = pytester.runpytest(*models(pytester, "m"), f"--evb-rig={rig}", *FAST)
    assert run.ret == 1
    assert run.parseoutcomes()["broke"] == 1
    run.stdout.fnmatch_lines(["  attempt 1: on lab-a: board broke: *"])
    run.stdout.no_fnmatch_line("*it is out*")


@pytest.mark.slow
def test_a_board_that_broke_with_two_models_is_out_of_the_run_and_in_quarantine(
    pytester: pytest.Pytester, tmp_path: Path
) -> None:
    """Where it is the only one, the others fail at once; another run leases it no more."""
    state = RigState(tmp_path / "quarantine.json")
    hangs = {"lab-a": ("--fault", "hang@invoke"), "lab-b": ()}
    with rig_of(tmp_path, hangs) as rig:
        options = (f"--evb-rig={rig}", f"--evb-quarantine={state.path}", "--evb-timeout=1", *FAST)
        of_models = models(pytester, "k", "l", "m")
        run = pytester.runpytest(*of_models, *options, "--evb=name:lab-a", "--durations=0")
        assert run.ret == 1
        assert "broke" not in run.parseoutcomes()
        run.stdout.fnmatch_lines(
            [
                "board broke: *: no board of *lab.toml is left: lab-a: taken out quarantine, *",
                "autodeploy: board lab-a broke with k and l: *; it is out until *--lift lab-a *",
            ]
        )
        assert state.read()["lab-a"].reason.startswith("broke with k and l: ")
        again = pytester.runpytest(*of_models, *options)
        assert again.parseoutcomes() == {"passed": 6, "deselected": 6}
        assert {result["board"]["rig_name"] for result in results(pytester)} >= {"lab-b"}


@pytest.mark.slow
def test_workers_of_a_run_share_what_is_out(pytester: pytest.Pytester, tmp_path: Path) -> None:
    faults = {"lab-a": ("--fault", "hang@invoke"), "lab-b": (), "lab-c": ()}
    with rig_of(tmp_path, faults) as rig:
        options = (f"--evb-rig={rig}", "--evb-timeout=1", "-n2", "-p", "xdist", *FAST)
        run = pytester.runpytest_subprocess(*models(pytester, *"abcdefgh"), *options)
    assert run.ret == 0
    outcomes = run.parseoutcomes()
    assert outcomes["passed"] == 16
    assert outcomes["broke"] <= 2
    told = [line for line in run.outlines if line.startswith("autodeploy: board lab-a broke with")]
    assert len(told) == (1 if outcomes["broke"] == 2 else 0)


def test_a_quarantine_of_all_boards_is_red(pytester: pytest.Pytester, tmp_path: Path) -> None:
    rig = write_rig(tmp_path / "lab.toml", {"lab-a": "/dev/a", "lab-b": "/dev/b"})
    state = RigState(tmp_path / "quarantine.json")
    for name in ("lab-a", "lab-b"):
        state.take_out(name, why="quarantine", reason="broke with k and l")
    options = (f"--evb-rig={rig}", f"--evb-quarantine={state.path}", "--tflite-latency-budget=ms=1")
    run = pytester.runpytest(*models(pytester, "m"), *options)
    assert run.ret == 1
    outcomes = run.parseoutcomes()
    assert outcomes == {"errors": 4}
    run.stdout.fnmatch_lines(["*no board of *lab.toml is left: lab-a: taken out quarantine, *"])
    run.stdout.fnmatch_lines(["*NOT JUDGED*"])


@pytest.mark.parametrize("broken", ["[]", "others"])
def test_a_quarantine_that_cannot_be_trusted_is_a_usage_error(
    pytester: pytest.Pytester, tmp_path: Path, broken: str
) -> None:
    rig = write_rig(tmp_path / "lab.toml", {"lab-a": "/dev/a"})
    file = tmp_path / "quarantine.json"
    file.write_text('{"version": 1, "out": {}}' if broken == "others" else broken)
    file.chmod(0o666 if broken == "others" else 0o644)
    options = (f"--evb-rig={rig}", f"--evb-quarantine={file}")
    run = pytester.runpytest(*models(pytester, "m"), *options)
    assert run.ret == pytest.ExitCode.USAGE_ERROR
    run.stderr.fnmatch_lines(["ERROR: *--evb-quarantine*"])


def test_what_nobody_could_give_is_refused(pytester: pytest.Pytester, tmp_path: Path) -> None:
    rig = write_rig(tmp_path / "lab.toml", {"lab-a": "/dev/a"})
    for options, says in (
        (("--evb-second-chance=on", f"--evb-rig={rig}"), "sim:apollo4p_evb has none"),
        (("--evb-second-chance=on", "--evb-port=/dev/a"), "sim:apollo4p_evb has none"),
        ((f"--evb-quarantine={tmp_path / 'q.json'}",), "is for boards of a rig"),
    ):
        run = pytester.runpytest(*models(pytester, "m"), *options)
        assert run.ret == pytest.ExitCode.USAGE_ERROR
        run.stderr.fnmatch_lines([f"ERROR: *{says}*"])


def test_a_model_passes_after_a_power_cycle(pytester: pytest.Pytester, tmp_path: Path) -> None:
    """The board hangs until its relay has been off: here, until another process has its port."""
    with (
        running_boards(tmp_path, {"hung": DIGITS}, faults={"hung": ("--fault", "hang@invoke")}) as (
            hung
        ),
        running_boards(tmp_path, {"fresh": DIGITS}) as fresh,
    ):
        port = tmp_path / "ttyEVB"
        port.symlink_to(hung["hung"])
        swap = "import os, sys; os.unlink(sys.argv[1]); os.symlink(*reversed(sys.argv[1:]))"
        command = [sys.executable, "-c", swap, str(port), fresh["fresh"]]
        power = f"power = {json.dumps(command)}"
        rig = write_rig(tmp_path / "lab.toml", {"lab-a": str(port)}, **{"lab-a": power})
        options = (f"--evb-rig={rig}", "--evb-timeout=1", "--junit-xml=j.xml", *FAST)
        run = pytester.runpytest(*models(pytester, "m"), *options)
    assert run.parseoutcomes() == {"passed": 2, "deselected": 2, "broke": 1}
    told = "passed after a power cycle; earlier: on lab-a: board broke: "
    run.stdout.fnmatch_lines([f"FLAKY autodeploy::test_latency*: {told}*"])
    assert 'name="autodeploy.second_chance" value="power cycle"' in Path("j.xml").read_text()


@pytest.mark.slow
def test_a_power_cycle_that_fails_is_red_and_says_why(
    pytester: pytest.Pytester, tmp_path: Path
) -> None:
    command = [sys.executable, "-c", "import sys; sys.exit('no relay')"]
    with rig_of(tmp_path, {"lab-a": DIES}, **{"lab-a": f"power = {json.dumps(command)}"}) as rig:
        run = pytester.runpytest(*models(pytester, "m"), f"--evb-rig={rig}", *FAST)
    assert run.ret == 1
    run.stdout.fnmatch_lines(["*cannot cut the power of lab-a: *exited with code 1: no relay"])
    run.stdout.fnmatch_lines(["  attempt 1: on lab-a: board broke: *"])
