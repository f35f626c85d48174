"""The health of boards: what they went through in the runs of a history."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_autodeploy.baseline.commit import Commit
from pytest_autodeploy.baseline.errors import HistoryError
from pytest_autodeploy.baseline.history import History, Run
from pytest_autodeploy.baseline.history_uses import BoardHealth
from pytest_autodeploy.board.use import BoardUse, added_up
from pytest_autodeploy.report.health import health_html

LAB = BoardUse("apollo4p_evb", name="lab3-a", serial="1160001234", flashes=2)
TTY = BoardUse("apollo4p_evb", port="/dev/ttyACM0", flashes=1)


def history_of(folder: Path, *runs: tuple[BoardUse, ...], host: str = "rig-1") -> History:
    """A history with a run a day, in each of which these boards were used."""
    history = History(folder / "history.sqlite")
    for day, uses in enumerate(runs, 1):
        began = f"2026-01-{day:02}T10:00:00+00:00"
        history.add(Run(began, Commit("0a"), "pytest", "0.1.0", host=host), [], uses=uses)
    return history


def health_of(folder: Path, *runs: tuple[BoardUse, ...]) -> list[BoardHealth]:
    return history_of(folder, *runs).health()


def test_counts_are_sums_over_runs(tmp_path: Path) -> None:
    worn = replace(LAB, breaks=3, retries=2, retransmissions=40)
    (found,) = health_of(tmp_path, (LAB,), (worn,), (replace(LAB, flashes=0),))
    assert (found.runs, found.flashes, found.retries, found.retransmissions) == (3, 4, 2, 40)
    assert (found.breaks, found.broke_in, found.broke_last[:10]) == (3, 1, "2026-01-02")
    assert (found.label, found.last[:10], found.host) == ("lab3-a", "2026-01-03", "")


def test_the_board_that_broke_most_is_at_the_top(tmp_path: Path) -> None:
    found = health_of(tmp_path, (LAB, replace(TTY, breaks=1)))
    assert [each.label for each in found] == ["/dev/ttyACM0", "lab3-a"]


def test_boards_of_a_type_are_told_apart(tmp_path: Path) -> None:
    twin = replace(LAB, name="lab3-b", serial="1160005678")
    replaced = replace(LAB, serial="1160009999")
    found = health_of(tmp_path, (LAB, twin, TTY), (replaced,))
    assert sorted((each.label, each.serial) for each in found) == [
        ("/dev/ttyACM0", ""),
        ("lab3-a", "1160001234"),
        ("lab3-a", "1160009999"),
        ("lab3-b", "1160005678"),
    ]


def test_a_board_with_a_serial_number_keeps_it_at_another_port(tmp_path: Path) -> None:
    here, there = (replace(LAB, port=f"/dev/ttyACM{number}") for number in range(2))
    (found,) = health_of(tmp_path, (here,), (there,))
    assert (found.runs, found.port) == (2, "/dev/ttyACM1")


def test_a_port_of_another_pc_is_another_board(tmp_path: Path) -> None:
    history_of(tmp_path, (TTY,), host="rig-1")
    found = history_of(tmp_path, (TTY,), host="rig-2").health()
    assert [(each.port, each.host) for each in found] == [
        ("/dev/ttyACM0", "rig-1"),
        ("/dev/ttyACM0", "rig-2"),
    ]


def test_the_drift_of_a_clock_is_that_of_medians(tmp_path: Path) -> None:
    """A run on a loaded PC is off by itself, and a board that was asked once has no drift."""
    offs = [10, 11, 9, 10, 500, 30, 31, 29, 30, -400]
    runs = [(replace(LAB, clock_ppm=off),) for off in offs]
    (found,) = health_of(tmp_path, *runs)
    assert (found.clock_ppm, found.clock_drift_ppm) == (30, 20)
    (tmp_path / "history.sqlite").unlink()
    (once,) = health_of(tmp_path, runs[0], (LAB,))
    assert (once.clock_ppm, once.clock_drift_ppm) == (10, None)


def test_uses_of_a_board_are_added_up_and_the_last_clock_counts() -> None:
    first, later = replace(LAB, breaks=1, clock_ppm=5.0), replace(LAB, clock_ppm=7.0)
    assert added_up([first, TTY, later, LAB]) == (
        TTY,
        replace(LAB, flashes=6, breaks=1, clock_ppm=7.0),
    )


def test_runs_that_are_not_kept_do_not_count(tmp_path: Path) -> None:
    history = History(tmp_path / "history.sqlite")
    for _ in range(5):
        run = Run("2026-01-01T10:00:00+00:00", Commit("0a"), "pytest", "0.1.0")
        history.add(run, [], keep=2, uses=[LAB])
    (found,) = history.health()
    assert found.runs == 2


@pytest.mark.parametrize(
    ("column", "value"),
    [("flashes", "-1"), ("breaks", "'many'"), ("clock_ppm", "1e999"), ("name", "x'00'")],
)
def test_a_value_of_another_type_is_refused(tmp_path: Path, column: str, value: str) -> None:
    history = history_of(tmp_path, (LAB,))
    with sqlite3.connect(history.path) as connection:
        connection.execute(f"UPDATE board_uses SET {column} = {value}")  # noqa: S608  # of above
    connection.close()
    with pytest.raises(HistoryError, match="a board of the run of '2026-01-01"):
        history.health()


def test_the_page_folds_the_table_and_escapes_names(tmp_path: Path) -> None:
    hostile = replace(LAB, name="<b>lab", breaks=2)
    page = health_html(history_of(tmp_path, (hostile, TTY)).path)
    assert page.startswith("<details class=ad><summary>Health of 2 boards over the history: 1 bro")
    assert "&lt;b&gt;lab" in page
    assert "2 in 1 run, last 2026-01-01" in page
    assert "Clock" not in page.partition("</table>")[0]
    assert health_html(History(tmp_path / "empty.sqlite").path).strip() == ""
