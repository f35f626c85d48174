"""``make bench``: ``python -m tests.benchmarks.speed [--only WORDS] [--compare KEPT]``."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tests.benchmarks.speed import document
from tests.benchmarks.speed.datasets import dataset
from tests.benchmarks.speed.figures import Figure
from tests.benchmarks.speed.firmware import firmware
from tests.benchmarks.speed.imports import imports
from tests.benchmarks.speed.rpc import bulk, ratios
from tests.benchmarks.speed.runs import many_models, start_up, whole_run

MISSED = 1
"""Exit code when a bound is missed, or a figure is worse than the kept one."""

PARTS: dict[str, Callable[[Path, float], Iterator[Figure]]] = {
    "start-up": lambda folder, effort: start_up(folder, _times(25, effort)),
    "imports": lambda folder, effort: imports(folder, _times(3, effort)),
    "kws-10": lambda folder, effort: whole_run(folder, _times(9, effort), 10),
    "kws-100": lambda folder, effort: whole_run(folder, _times(5, effort), 100),
    "rpc": lambda _folder, effort: ratios(_times(15, effort), 100),
    "bulk": lambda _folder, effort: bulk(_times(5, effort)),
    "dataset": lambda _folder, effort: dataset(_times(3, effort)),
    "firmware": lambda folder, effort: firmware(folder, _times(2, effort, 1)),
    "models": lambda folder, effort: many_models(folder, _times(3, effort, 1), 0),
    "models-n2": lambda folder, effort: many_models(folder, _times(3, effort, 1), 2),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table, write JSON; compare with a kept one."""
    options = _parser().parse_args(arguments)
    kept = document.read(options.compare) if options.compare else None
    figures = list(_measured(options.only, options.effort))
    document.write(figures, options.json)
    print("\n" + "\n".join(document.lines(figures)))
    print(
        f"\nwritten to {options.json}; hold the next one against it: make bench-compare KEPT=FILE"
    )
    missed = [figure.name for figure in figures if figure.verdict == "FAIL"]
    if kept:
        missed += _compared(*kept, figures)
    if missed:
        print(f"\nmissed: {'; '.join(missed)}")
    return MISSED if missed else 0


def _measured(only: Sequence[str], effort: float) -> Iterator[Figure]:
    for name in only or PARTS:
        with tempfile.TemporaryDirectory(prefix="autodeploy-bench-") as folder:
            for figure in PARTS[name](Path(folder), effort):
                value = f"{figure.median:.4g} {figure.unit}" if figure.values else figure.absent
                print(f"{figure.name}: {value}", file=sys.stderr, flush=True)
                yield figure


def _compared(machine: object, kept: Sequence[Figure], figures: Sequence[Figure]) -> list[str]:
    if machine != document.machine():
        print(f"\nnot compared: the kept bench is of another machine, {machine}")
        return ["the kept bench is of another machine"]
    rows = document.compare(kept, figures)
    print("\n" + "\n".join(document.compared_lines(rows)))
    return [f"{row.name}: worse than kept" for row in rows if row.state == "regression"]


def _times(count: int, effort: float, least: int = 2) -> int:
    return max(least, round(count * effort))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--only", nargs="*", choices=list(PARTS), default=[], help="some parts")
    parser.add_argument("--json", type=Path, default=Path("build/bench.json"))
    parser.add_argument("--compare", type=Path, metavar="KEPT", help="a JSON file of make bench")
    parser.add_argument("--effort", type=float, default=1.0, help="times the usual repeats")
    return parser


if __name__ == "__main__":
    sys.exit(main())
