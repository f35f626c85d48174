"""How near the board came to the PC, in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from pytest_autodeploy.base.figure import Figure
from pytest_autodeploy.base.table import Column
from pytest_autodeploy.base.text import one_line

if TYPE_CHECKING:
    from pytest_autodeploy.metrics.records.agreement import (
        AgreementRecord,
        OutputRecord,
        WorstRecord,
    )

    Error = Callable[[OutputRecord], float | None]

ERRORS: Mapping[str, Error] = {
    "max_abs_real": lambda output: output.max_abs_real,
    "mean_abs_real": lambda output: output.mean_abs_real,
    "rmse_real": lambda output: output.rmse_real,
    "relative_l2": lambda output: output.relative_l2,
    "cosine": lambda output: output.cosine,
    "nse": lambda output: output.nse,
}
"""The errors of an output in real units, by the names that they have in files."""

_HEADINGS = ("Largest", "Mean (MAE)", "RMSE", "Relative L2", "Cosine", "NSE")


def agreement_text(agreement: AgreementRecord) -> str:
    """The agreement in a few words, such as ``within 1 step of xnnpack``."""
    return one_line(agreement.text)


def agreement_figures(agreement: AgreementRecord) -> list[Figure]:
    """The details of an agreement, line by line."""
    beyond = len(agreement.failed_inferences)
    return [
        Figure("Tolerance", agreement.tolerance, note=f"reference {agreement.reference}"),
        Figure("Inferences", str(agreement.count), note=f"{beyond} beyond the tolerance"),
        *_path_figures(agreement),
        *map(_output_figure, agreement.outputs),
        *_worst_figures(agreement.worst),
    ]


def agreement_columns(agreement: AgreementRecord) -> list[Column]:
    """The errors of each output over all inferences, in real units, as a table."""
    outputs = agreement.outputs
    return [
        Column("Error against the nearest kernels", [one_line(each.name, 60) for each in outputs]),
        *(
            Column(heading, [_error(error(output)) for output in outputs], right=True)
            for heading, error in zip(_HEADINGS, ERRORS.values(), strict=True)
        ),
    ]


def _error(value: float | None) -> str:
    return "none" if value is None else f"{value:.6g}"


def _path_figures(agreement: AgreementRecord) -> Iterator[Figure]:
    for path, distance in agreement.distances.items():
        times = agreement.nearest.get(path, 0)
        note = f"nearest in {times} of {agreement.count}"
        value = _distance(distance, agreement.distance_unit)
        yield Figure(f"Distance to {one_line(path)}", value, note=note)
    for path, why in agreement.failed_paths.items():
        yield Figure(f"Distance to {one_line(path)}", "unknown", note=one_line(why))


def _output_figure(output: OutputRecord) -> Figure:
    steps = output.unit == "steps"
    most = output.max_abs_steps if steps else output.max_abs_real
    mean = output.mean_abs_steps if steps else output.mean_abs_real
    parts = [f"mean {_distance(mean, output.unit)}"]
    if output.argmax_agreement is not None:
        parts.append(f"same largest element in {100 * output.argmax_agreement:.4g} %")
    if output.elements_beyond:
        parts.append(f"{output.elements_beyond} of {output.elements} elements beyond")
    if output.nan_mismatch:
        parts.append(f"{output.nan_mismatch} NaN on one side only")
    if output.nan:
        parts.append(f"{output.nan} of {output.elements} elements NaN")
    if output.infinite:
        parts.append(f"{output.infinite} of {output.elements} elements infinite")
    label = one_line(f"Output {output.name} ({output.dtype})", 60)
    return Figure(label, _distance(most, output.unit), note=", ".join(parts))


def _worst_figures(worst: WorstRecord | None) -> Iterator[Figure]:
    if worst:
        index = ", ".join(map(str, worst.index))
        where = f"inference {worst.inference}, {one_line(worst.name, 60)}[{index}]"
        both = f"board {_number(worst.board)}, PC {_number(worst.pc)} ({worst.path})"
        yield Figure("Worst element", both, note=where)


def _distance(value: float | None, unit: str) -> str:
    if value is None:
        return "not a number"
    if unit == "real":
        return f"{value:.3g}"
    return f"{value:.4g} step{'' if value == 1 else 's'}"


def _number(value: float | None) -> str:
    return "not a number" if value is None else f"{value:.6g}"
