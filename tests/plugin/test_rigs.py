"""``--evb-rig``: boards of a rig are shared by the workers of a run, by runs and by users."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from pytest_autodeploy.base.lease import holder_of
from pytest_autodeploy.board.usb_ports import port_identity
from pytest_autodeploy.catalog.rig_state import RigState
from pytest_autodeploy.plugin.scheduler import group_of
from tests.helpers.rigs import TYPE, running_boards, settings_of, write_rig
from tests.helpers.support import DIGITS, ROOT, wait_until
from tests.helpers.users import ATTACKER, everybodys_folder, needs_root

RAN = re.compile(r"\[(gw\d)\] \[ *\d+%\] PASSED autodeploy::(\w+\[.*\])")
FAST = ("-k", "fits or size or profile")
MODELS = ("a", "b", "c", "d")


@contextmanager
def rig_of(folder: Path, count: int, *arguments: str, model: Path = DIGITS) -> Iterator[Path]:
    """The file of a rig whose boards run a model behind ports of TCP."""
    models = dict.fromkeys(("lab-a", "lab-b", "lab-c")[:count], model)
    with running_boards(folder, models, "--tcp", "127.0.0.1:0", *arguments) as ports:
        yield write_rig(folder / "lab.toml", ports)


def models_of(pytester: pytest.Pytester, *names: str) -> list[str]:
    """Options for copies of the digits model."""
    for name in names:
        shutil.copy(DIGITS, pytester.path / f"{name}.tflite")
    return [f"--tflite={name}.tflite" for name in names]


def boards_used(pytester: pytest.Pytester) -> dict[str, set[str]]:
    """The boards that each model has run on, by the results of a run."""
    used: dict[str, set[str]] = defaultdict(set)
    for path in pytester.path.glob("autodeploy-results/*/*/result.json"):
        result = json.loads(path.read_text())
        used[result["model"]["id"]] |= {use["name"] for use in result["run"]["boards"]}
    return used


@pytest.mark.parametrize(
    ("count", "nodeid", "group"),
    [
        (2, f"autodeploy::test_latency[kws-{TYPE}]", f"kws-{TYPE}"),
        (1, f"autodeploy::test_latency[kws-{TYPE}]", TYPE),
        (2, f"autodeploy::test_latency[kws-{TYPE}@lab-b]", f"{TYPE}@lab-b"),
        (2, f"tests/test_x.py::test_it[kws-{TYPE}@lab-b-lab-3]", f"{TYPE}@lab-b"),
        (2, "autodeploy::test_latency[kws-sim:apollo510_evb]", "kws-sim:apollo510_evb"),
    ],
)
def test_tests_of_a_model_are_one_unit_where_there_are_several_boards(
    tmp_path: Path, count: int, nodeid: str, group: str
) -> None:
    names = ("lab-a", "lab-b")[:count]
    rig = write_rig(tmp_path / "lab.toml", {name: f"/dev/{name}" for name in names})
    assert group_of(nodeid, settings_of(rig)) == group


def test_any_board_of_a_type_is_used_and_told(pytester: pytest.Pytester, tmp_path: Path) -> None:
    options = models_of(pytester, "a")
    with rig_of(tmp_path, 2) as rig:
        run = pytester.runpytest(*options, f"--evb-rig={rig}", *FAST)
        assert run.ret == 0
        run.stdout.fnmatch_lines([f"autodeploy: {TYPE}, simulated: *; rig: lab-a, lab-b"])
        assert boards_used(pytester) == {"a": {"lab-a"}}
        RigState.beside(rig).take_out("lab-a")
        named = pytester.runpytest(*options, f"--evb-rig={rig}", "--evb=name:lab-b", *FAST)
        assert named.ret == 0
        named.stdout.fnmatch_lines([f"a * {TYPE}@lab-b *"])
        pytester.runpytest(*options, f"--evb-rig={rig}", *FAST).assert_outcomes(passed=2)
    assert boards_used(pytester) == {"a": {"lab-b"}}


def test_a_board_is_given_up_when_its_model_is_tested(
    pytester: pytest.Pytester, tmp_path: Path
) -> None:
    """Others get it before the run has ended."""
    options = models_of(pytester, "a")
    with rig_of(tmp_path, 1) as rig:
        (board,) = settings_of(rig).rig.boards  # type: ignore[union-attr]
        identity = port_identity(str(board.port))
        pytester.makepyfile(f"""
            from pytest_autodeploy.base.lease import holder_of

            def test_of_the_board(model_session):
                model_session.run(1)
                assert holder_of({identity!r})

            def test_of_nothing():
                assert not holder_of({identity!r})
        """)
        pytester.runpytest(*options, f"--evb-rig={rig}", "--tflite-no-suite").assert_outcomes(
            passed=2
        )
        assert holder_of(identity) is None


@pytest.mark.parametrize(
    ("evb", "says"),
    [
        ("name:lab-x", ["ERROR: no board 'lab-x' in *", "  Did you mean lab-?? Boards: *lab-b"]),
        ("apollo4p_evb", ["ERROR: no apollo4p_evb in *", "  It has sim:apollo4p_evb."]),
    ],
)
def test_what_the_rig_has_not_is_told_before_the_run(
    pytester: pytest.Pytester, tmp_path: Path, evb: str, says: list[str]
) -> None:
    rig = write_rig(tmp_path / "lab.toml", {"lab-a": "/dev/a", "lab-b": "/dev/b"})
    run = pytester.runpytest(*models_of(pytester, "a"), f"--evb-rig={rig}", f"--evb={evb}")
    assert run.ret == pytest.ExitCode.USAGE_ERROR
    run.stderr.fnmatch_lines(says)


def test_a_run_whose_boards_are_all_taken_out_does_not_begin(
    pytester: pytest.Pytester, tmp_path: Path
) -> None:
    rig = write_rig(tmp_path / "lab.toml", {"lab-a": "/dev/a"})
    RigState.beside(rig).take_out("lab-a", reason="cable")
    run = pytester.runpytest(*models_of(pytester, "a"), f"--evb-rig={rig}")
    assert run.ret == pytest.ExitCode.USAGE_ERROR
    run.stderr.fnmatch_lines(
        [f"ERROR: {TYPE}: no board of *lab.toml is left: lab-a: taken out by hand, *: cable"]
    )


@pytest.mark.slow
@pytest.mark.parametrize("workers", [2, 4])
def test_workers_use_boards_side_by_side_and_each_model_once(
    pytester: pytest.Pytester, tmp_path: Path, workers: int
) -> None:
    options = models_of(pytester, *MODELS)
    with rig_of(tmp_path, 3, "--link-latency-ms", "5") as rig:
        chosen = (*options, f"--evb-rig={rig}", *FAST, "-v")
        alone = pytester.runpytest_subprocess(*chosen)
        ids = re.findall(r"autodeploy::(\w+\[.*\]) PASSED", alone.stdout.str())
        run = pytester.runpytest_subprocess(*chosen, "-n", str(workers))
    assert run.ret == 0
    ran = RAN.findall(run.stdout.str())
    assert sorted(test for _, test in ran) == sorted(ids)
    assert len(ids) == 2 * len(MODELS)
    by_model = defaultdict(set)
    for worker, test in ran:
        by_model[test.partition("[")[2]].add(worker)
    assert all(len(of_model) == 1 for of_model in by_model.values())
    used = boards_used(pytester)
    assert all(len(of_model) == 1 for of_model in used.values())
    assert len(set.union(*used.values())) == min(workers, 3)


@pytest.mark.slow
def test_workers_take_turns_with_the_only_board_and_say_so(
    pytester: pytest.Pytester, tmp_path: Path
) -> None:
    """Though each of them runs all tests of the board."""
    options = models_of(pytester, "a", "b")
    with rig_of(tmp_path, 1, "--link-latency-ms", "40") as rig:
        run = pytester.runpytest_subprocess(
            *options, f"--evb-rig={rig}", "-n", "2", "--dist", "each", *FAST
        )
    run.assert_outcomes(passed=8)
    run.stderr.re_match_lines(
        [
            r".*\[gw\d\] autodeploy: waiting since [\d:]+ for board lab-a, which process \d+ "
            r"\(pytest --basetemp.*\) of .* since [\d:]+ has, \d+ s"
        ]
    )


@contextmanager
def run_of_another_user(folder: Path, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """A run of pytest of another user, who may read what root may, and write to ``folder``."""
    readers = "--inh-caps=-all,+dac_read_search", "--ambient-caps=-all,+dac_read_search"
    become = ("setpriv", f"--reuid={ATTACKER}", f"--regid={ATTACKER}", "--clear-groups", *readers)
    own = {"HOME": str(folder), "TMPDIR": str(folder), "PYTHONPATH": str(ROOT)}
    with (folder / "out.txt").open("wb") as out:
        process = subprocess.Popen(
            [*become, sys.executable, "-m", "pytest", *arguments],
            cwd=folder,
            env=os.environ | own,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@pytest.mark.slow
@needs_root
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="needs setpriv")
def test_a_run_waits_for_that_of_another_user_and_has_the_board_when_it_is_killed(
    pytester: pytest.Pytester, tmp_path: Path
) -> None:
    options = models_of(pytester, "a")
    with everybodys_folder() as theirs, rig_of(tmp_path, 1, "--link-latency-ms", "300") as rig:
        (board,) = settings_of(rig).rig.boards  # type: ignore[union-attr]
        identity = port_identity(str(board.port))
        other = shutil.copy(DIGITS, theirs / "b.tflite")
        with run_of_another_user(theirs, f"--tflite={other}", f"--evb-rig={rig}") as process:
            wait_until(lambda: holder_of(identity) is not None or process.poll() is not None)
            assert process.poll() is None, (theirs / "out.txt").read_text()
            chosen = (*options, f"--evb-rig={rig}", "-k", "latency or profile")
            command = [sys.executable, "-m", "pytest", *chosen]
            with subprocess.Popen(command, cwd=pytester.path, stdout=subprocess.PIPE) as mine:
                lines: list[str] = []
                assert mine.stdout is not None
                while not lines or "waiting since" not in lines[-1]:
                    lines.append(mine.stdout.readline().decode())
                    assert lines[-1], "".join(lines)
                os.killpg(process.pid, signal.SIGKILL)
                rest = mine.stdout.read().decode()
    assert re.search(
        rf"autodeploy: waiting since [\d:]+ for board lab-a, which process {process.pid} "
        rf"\(pytest --tflite=.*\) of uid {ATTACKER} since [\d:]+ has, \d+ s",
        lines[-1],
    )
    assert mine.returncode == 0, rest
    assert "2 passed" in rest


@pytest.mark.slow
@pytest.mark.parametrize("workers", [2, 4])
def test_four_models_on_two_simulated_boards_are_eight_flashes(
    pytester: pytest.Pytester, workers: int
) -> None:
    options = models_of(pytester, *MODELS)
    for name in MODELS:  # what a board runs already would not be flashed
        with (pytester.path / f"{name}.tflite").open("ab") as file:
            file.write(name.encode())
    boards = ("sim:apollo4p_evb", "sim:apollo510_evb")
    chosen = (*options, *(f"--evb={board}" for board in boards), "-k", "latency or profile", "-v")
    run = pytester.runpytest_subprocess(*chosen, "-n", str(workers))
    assert run.ret == 0
    ran = RAN.findall(run.stdout.str())
    assert {test for _, test in ran} == {
        f"{test}[{model}-{board}]"
        for test in ("test_latency", "test_layer_profile")
        for model in MODELS
        for board in boards
    }
    assert len({worker for worker, _ in ran}) == workers
    paths = pytester.path.glob("autodeploy-results/*/*/result.json")
    results = [json.loads(path.read_text()) for path in paths]
    assert [use["flashes"] for each in results for use in each["run"]["boards"]] == [1] * 8
