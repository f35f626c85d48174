"""The sections of the terminal's summary, as makers of a title and lines: each can fail alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from pytest_autodeploy.baseline.words import headline
from pytest_autodeploy.metrics.result import Result
from pytest_autodeploy.npu.results import Estimate
from pytest_autodeploy.report.figures import title
from pytest_autodeploy.report.npu_sweep import sweep_lines, sweep_rows
from pytest_autodeploy.report.terminal import summary_lines

Section = tuple[str, list[str]]


def sections(
    results: Sequence[Result], *, output: str, verbose: bool, width: int
) -> Iterator[Callable[[], Section]]:
    """One section per model and board, then one per model with NPU estimates.

    The arguments are those of ``terminal.summary_lines``.
    """
    for result in results:
        if not result.npu:
            yield partial(summary_lines, result, output=output, verbose=verbose, width=width)
    by_model: dict[str, list[Estimate]] = {}
    for estimate in estimates(results):
        by_model.setdefault(estimate.model, []).append(estimate)
    for model, group in by_model.items():
        yield partial(_sweep, model, group)


def estimates(results: Sequence[Result]) -> list[Estimate]:
    """The NPU estimates, each under the unique id of its model."""
    return [replace(result.npu, model=result.model.id) for result in results if result.npu]


def comparison_line(result: Result) -> str:
    """How a result compares with its baseline; empty when it was not compared."""
    comparison = result.comparison
    return f"{title(result)}: {headline(comparison)}" if comparison else ""


def _sweep(model: str, group: Sequence[Estimate]) -> Section:
    return f"Ethos-U estimates of {model}", sweep_lines(sweep_rows(group))
