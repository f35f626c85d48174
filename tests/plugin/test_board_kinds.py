"""A kind of boards that an installed package brings, from ``--evb`` to the baseline."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from pytest_autodeploy.catalog.plugged import GROUP
from tests.helpers.cli_support import PROCESS
from tests.helpers.distributions import install

MYKIND = """
from pytest_autodeploy.board.simulated import SimulatedBoard
from pytest_autodeploy.catalog.kinds import Kind

def make(order):
    arguments = ["--power-fault", order.options["wire"]] if "wire" in order.options else []
    return SimulatedBoard(order.board_id, order.spec, timeout_s=order.settings.evb_timeout,
                          arguments=arguments)

KIND = Kind(prefix="mykind:", name="mine", noun="a board of mine", runs="a process of mine",
            source="emulated", random_runs=3, exact=True, own_meter=True, options=("wire",),
            make=make)
"""


@pytest.fixture(autouse=True)
def package(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a package with a kind of boards, which runs see as an installed one."""
    folder = pytester.mkdir("site")
    install(folder, "my-lab", {GROUP: "mykind = mylab:KIND"}, {"mylab": MYKIND})
    known = os.environ.get("PYTHONPATH")
    monkeypatch.setenv("PYTHONPATH", f"{folder}{os.pathsep}{known}" if known else str(folder))
    return folder


def run(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    """A run on a board of the kind, in a process of its own."""
    given = ["--tflite", "digits_cnn.tflite", "--evb", "mykind:apollo4p_evb", *arguments]
    return pytester.runpytest_subprocess(*given)


@pytest.mark.usefixtures("digits")
@pytest.mark.slow
def test_a_board_of_it_is_run_on_measured_and_kept(pytester: pytest.Pytester) -> None:
    result = run(pytester, "--autodeploy-update-baseline", "-v")
    result.assert_outcomes(passed=5)
    result.stdout.fnmatch_lines(
        [
            "autodeploy: mykind:apollo4p_evb, mine: times are counts of instructions, not measured",
            "*autodeploy: digits_cnn on mykind:apollo4p_evb*",
            "HP latency *emulated*",
        ]
    )
    assert [path.name for path in pytester.path.rglob("apollo4p_evb.*.json")] == [
        "apollo4p_evb.mine.json"
    ]
    (file,) = (pytester.path / "autodeploy-results").rglob("result.json")
    record = json.loads(file.read_text())
    assert record["board"]["kind"] == "mine"
    assert record["board"]["source"] == "emulated"
    timed = [m for m in record["measurements"] if m["name"] == "inferences_timed"]
    assert [m["value"] for m in timed] == [1]


@pytest.mark.usefixtures("digits")
@pytest.mark.slow
def test_its_options_come_from_the_fixture_of_boards(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        "import pytest\n@pytest.fixture(scope='session')\n"
        "def evb_options(): return {'wire': 'cut-in0'}\n"
    )
    result = run(pytester, "-k", "energy")
    result.assert_outcomes(failed=1, deselected=4)
    result.stdout.fnmatch_lines(["*In0 never moved*"])


def test_it_is_no_hardware(pytester: pytest.Pytester) -> None:
    result = run(pytester, "--evb-require-hardware")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*mykind:apollo4p_evb is not a hardware board*"])


def test_a_broken_package_is_one_error_that_names_it(
    pytester: pytest.Pytester, package: Path
) -> None:
    (package / "mylab.py").write_text("1 / 0\n")
    result = run(pytester)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [
            "ERROR: the board kind 'mykind' of my-lab 1.0 cannot be used: ZeroDivisionError: *",
            "  Update or uninstall the package; it declares mylab:KIND in autodeploy.board_kinds.",
        ]
    )
    assert "Traceback" not in result.stderr.str()


def test_boards_lists_it(pytester: pytest.Pytester) -> None:
    result = pytester.run(*PROCESS, "boards")
    result.stdout.fnmatch_lines(
        ["mine * --evb mykind:NAME * a process of mine * ready", "* Simulated * Mine *"]
    )
    result.stdout.fnmatch_lines(["*sim:apollo4p_evb * mykind:apollo4p_evb *"])
