"""The sections of the terminal's summary, as makers of a title and lines: each can fail alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from pytest_autodeploy.baseline.comparison_text import headline
from pytest_autodeploy.metrics.result import Result
from pytest_autodeploy.npu.results import Estimate
from pytest_autodeploy.report.failures import failing_lines
from pytest_autodeploy.report.figures import title
from pytest_autodeploy.report.npu_sweep import estimates, sweep_lines, sweep_rows
from pytest_autodeploy.report.overview import grouped_lines, overview_lines
from pytest_autodeploy.report.standing import standing
from pytest_autodeploy.report.terminal import summary_lines

Section = tuple[str, list[str]]

MOST_DETAILED = 5
"""Failing results that are shown with all their figures without ``-v``."""

MOST_FAILING = 20
"""Failing results of which is shown what failed without ``-v``."""

MOST_SWEEPS = 3
"""Models whose NPU estimates are shown without ``-v``."""


def sections(
    results: Sequence[Result], *, output: str, verbosity: int, width: int
) -> Iterator[Callable[[], Section]]:
    """The table of all results; below it what failed; with ``-v`` each result with its figures.

    With ``-q`` no figures are shown but those of the table. The other arguments are those of
    ``terminal.summary_lines``.
    """
    yield lambda: ("models on boards", overview_lines(results, output=output, width=width))
    verbose = verbosity > 0
    of_boards = [result for result in results if not result.npu]
    detail = partial(summary_lines, output=output, verbose=verbose, width=width)
    if verbose:
        yield from (partial(_whole, result, detail) for result in of_boards)
    else:
        bad = [result for result in results if standing(result).bad]
        few = 0 if verbosity < 0 else MOST_DETAILED
        for number, result in enumerate(bad[:MOST_FAILING]):
            whole = number < few and not result.npu
            yield partial(_whole, result, detail) if whole else partial(_failures, result)
        if len(bad) > MOST_FAILING:
            yield partial(_more, len(bad) - MOST_FAILING)
    yield from _sweeps(results, verbosity, width)


def comparison_lines(results: Sequence[Result], *, verbose: bool) -> list[str]:
    """How results compare with their baselines; those that end alike share a line."""
    said = [(title(each), headline(each.comparison)) for each in results if each.comparison]
    return [f"{name}: {text}" for name, text in said] if verbose else grouped_lines(said)


def _sweeps(
    results: Sequence[Result], verbosity: int, width: int
) -> Iterator[Callable[[], Section]]:
    by_model: dict[str, list[Estimate]] = {}
    for estimate in estimates(results):
        by_model.setdefault(estimate.model, []).append(estimate)
    if verbosity > 0 or (verbosity == 0 and len(by_model) <= MOST_SWEEPS):
        for model, group in by_model.items():
            yield partial(_sweep, model, group, width)


def _whole(result: Result, detail: Callable[[Result], Section]) -> Section:
    """What failed, then all figures; where nothing was measured the detail says what failed."""
    name, lines = detail(result)
    told = lines[0] == "nothing was measured" or not standing(result).bad
    return name, lines if told else [*failing_lines(result), "", *lines]


def _failures(result: Result) -> Section:
    return title(result), failing_lines(result)


def _more(count: int) -> Section:
    results = "1 more result is" if count == 1 else f"{count} more results are"
    return f"{results} red", ["the table above has each, -v shows what failed"]


def _sweep(model: str, group: Sequence[Estimate], width: int) -> Section:
    return f"Ethos-U estimates of {model}", sweep_lines(sweep_rows(group), width)
