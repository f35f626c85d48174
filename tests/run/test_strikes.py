"""Boards of a rig that broke: with two models in a row they are out, for all processes of a run."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from pytest_autodeploy.catalog.rig_state import RigState
from pytest_autodeploy.run.strikes import Strikes


def test_a_board_is_out_at_the_second_model_in_a_row(tmp_path: Path) -> None:
    here, there = Strikes(tmp_path), Strikes(tmp_path)
    here.broke("lab-a", "kws", "no answer")
    here.broke("lab-a", "kws", "no answer")  # of one model, as often as it may be
    assert there.out() == {}
    there.broke("lab-a", "vww", "died")
    assert list(here.out()) == ["lab-a"]
    assert here.out()["lab-a"].reason == "broke with kws and vww: died"


def test_another_model_that_passes_ends_the_row(tmp_path: Path) -> None:
    strikes = Strikes(tmp_path)
    strikes.broke("lab-a", "kws", "no answer")
    strikes.passed("lab-a", "vww")
    strikes.broke("lab-a", "ic", "no answer")
    assert strikes.out() == {}


def test_the_model_that_broke_it_ends_no_row_by_passing(tmp_path: Path) -> None:
    """A board that hangs with each model, and runs it after a power cycle, is no good."""
    strikes = Strikes(tmp_path)
    strikes.broke("lab-a", "kws", "no answer")
    strikes.passed("lab-a", "kws")
    strikes.passed("lab-b", "vww")  # of another board
    strikes.broke("lab-a", "vww", "no answer")
    assert list(strikes.out()) == ["lab-a"]


def strike(folder: str, number: int) -> None:
    quarantine = RigState(Path(folder) / "quarantine.json")
    Strikes(Path(folder), quarantine).broke(f"lab-{number % 4}", f"model-{number}", "died")


def test_processes_strike_at_once(tmp_path: Path) -> None:
    with ProcessPoolExecutor(2) as pool:
        list(pool.map(strike, [str(tmp_path)] * 16, range(16)))
    names = ["lab-0", "lab-1", "lab-2", "lab-3"]
    assert sorted(Strikes(tmp_path).out()) == names
    assert sorted(RigState(tmp_path / "quarantine.json").read()) == names
