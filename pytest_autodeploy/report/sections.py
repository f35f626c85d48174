"""The sections of the terminal's summary, as makers of a title and lines: each can fail alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from pytest_autodeploy.baseline.words import headline
from pytest_autodeploy.report.npu_sweep import sweep_lines, sweep_rows
from pytest_autodeploy.report.terminal import summary_lines, title

Result = Mapping[str, Any]
Section = tuple[str, list[str]]


def sections(
    results: Sequence[Result], *, output: str, verbose: bool, width: int
) -> Iterator[Callable[[], Section]]:
    """One section per model and board, then one per model with NPU estimates.

    The arguments are those of ``terminal.summary_lines``.
    """
    for result in results:
        if not result["npu"]:
            yield partial(summary_lines, result, output=output, verbose=verbose, width=width)
    by_model: dict[str, list[Result]] = {}
    for estimate in estimates(results):
        by_model.setdefault(estimate["model"], []).append(estimate)
    for model, group in by_model.items():
        yield partial(_sweep, model, group)


def estimates(results: Sequence[Result]) -> list[dict[str, Any]]:
    """The NPU estimates, each under the unique id of its model."""
    return [r["npu"] | {"model": r["model"]["id"]} for r in results if r["npu"]]


def comparison_line(result: Result) -> str:
    """How a result compares with its baseline; empty when it was not compared."""
    comparison = result["comparison"]
    return f"{title(result)}: {headline(comparison)}" if comparison else ""


def _sweep(model: str, group: Sequence[Result]) -> Section:
    return f"Ethos-U estimates of {model}", sweep_lines(sweep_rows(group))
