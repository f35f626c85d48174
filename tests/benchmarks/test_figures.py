"""The verdicts of ``make bench``: a bound is judged only where noise and other work allow it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.benchmarks.speed import document
from tests.benchmarks.speed.figures import Figure
from tests.benchmarks.speed.memory import growth
from tests.benchmarks.speed.timing import in_turn

QUIET = Figure("a call", "times", "ratio", (2.0, 2.02, 1.98, 2.01, 1.99), bound=2.5)


@pytest.mark.parametrize(
    ("figure", "verdict"),
    [
        (QUIET, "pass"),
        (replace(QUIET, bound=1.5), "FAIL"),
        (replace(QUIET, bound=2.005), "undecided"),
        (replace(QUIET, values=(2.0,)), "undecided"),
        (replace(QUIET, values=(1.0, 2.0, 1.2, 1.8, 1.5, 2.9)), "undecided"),
        (replace(QUIET, bound=None), "no bound"),
        (replace(QUIET, bound=1.5, kind="wall", others=0.5), "undecided"),
        (replace(QUIET, bound=1.5, kind="wall", others=0.01), "FAIL"),
        (replace(QUIET, bound=2.5, kind="wall", others=0.5), "pass"),
        (replace(QUIET, bound=10, better="higher"), "FAIL"),
        (replace(QUIET, bound=1, better="higher"), "pass"),
        (Figure("a build", "s", "wall", absent="no compiler"), "left out"),
    ],
)
def test_a_bound_is_judged_where_the_noise_allows_it(figure: Figure, verdict: str) -> None:
    assert figure.verdict == verdict


def test_a_kept_bench_is_read_as_it_was_and_within_itself(tmp_path: Path) -> None:
    absent = Figure("a build", "s", "wall", absent="no compiler")
    document.write([QUIET, absent], tmp_path / "new" / "bench.json")
    machine, kept = document.read(tmp_path / "new" / "bench.json")

    assert machine == document.machine()
    assert kept == [QUIET, absent]
    assert [row.state for row in document.compare(kept, [QUIET, absent])] == ["within"]


@pytest.mark.parametrize(("factor", "state"), [(1.3, "regression"), (0.7, "improved")])
def test_another_figure_than_kept_is_told(factor: float, state: str) -> None:
    now = replace(QUIET, values=tuple(factor * value for value in QUIET.values))

    assert [row.state for row in document.compare([QUIET], [now])] == [state]


def test_a_kept_bench_that_is_none_is_a_message(tmp_path: Path) -> None:
    (tmp_path / "bench.json").write_text("{}")
    with pytest.raises(SystemExit, match=r"bench\.json is no JSON of make bench"):
        document.read(tmp_path / "bench.json")


def test_pairs_take_turns_and_the_first_is_lost() -> None:
    done: list[str] = []
    turns = list(in_turn(2, lambda: done.append("a"), lambda: done.append("b")))

    assert len(turns) == 2
    assert "".join(done) == "ababba"


def test_memory_that_grows_is_seen() -> None:
    assert growth([100] * 50) == 1.0
    assert growth(list(range(100, 200))) > 1.4
