"""How near the board came to the PC, in words; from the plain data of an ``Agreement``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pytest_autodeploy.base.figure import Figure
from pytest_autodeploy.base.table import Column
from pytest_autodeploy.base.text import one_line

Plain = Mapping[str, Any]

_ERRORS = {
    "max_abs_real": "Largest",
    "mean_abs_real": "Mean (MAE)",
    "rmse_real": "RMSE",
    "relative_l2": "Relative L2",
    "cosine": "Cosine",
    "nse": "NSE",
}


def agreement_words(agreement: Plain) -> str:
    """The agreement in a few words, such as ``within 1 step of xnnpack``."""
    return one_line(agreement["words"])


def agreement_figures(agreement: Plain) -> list[Figure]:
    """The details of an agreement, line by line."""
    beyond = len(agreement["failed_inferences"])
    return [
        Figure("Tolerance", agreement["tolerance"], note=f"reference {agreement['reference']}"),
        Figure("Inferences", str(agreement["count"]), note=f"{beyond} beyond the tolerance"),
        *_path_figures(agreement),
        *(_output_figure(output) for output in agreement["outputs"]),
        *_worst_figures(agreement["worst"]),
    ]


def agreement_columns(agreement: Plain) -> list[Column]:
    """The errors of each output over all inferences, in real units, as a table."""
    outputs = agreement["outputs"]
    names = [one_line(output["name"], 60) for output in outputs]
    return [
        Column("Error against the nearest path", names),
        *(
            Column(heading, [_error(output[name]) for output in outputs], right=True)
            for name, heading in _ERRORS.items()
        ),
    ]


def _error(value: float | None) -> str:
    return "none" if value is None else f"{value:.6g}"


def _path_figures(agreement: Plain) -> Iterator[Figure]:
    unit = agreement["distance_unit"]
    for path, distance in agreement["distances"].items():
        times = agreement["nearest"].get(path, 0)
        note = f"nearest in {times} of {agreement['count']}"
        yield Figure(f"Distance to {one_line(path)}", _distance(distance, unit), note=note)
    for path, why in agreement["failed_paths"].items():
        yield Figure(f"Distance to {one_line(path)}", "unknown", note=one_line(why))


def _output_figure(output: Plain) -> Figure:
    unit = output["unit"]
    parts = [f"mean {_distance(output[f'mean_abs_{unit}'], unit)}"]
    if output["argmax_agreement"] is not None:
        parts.append(f"same largest element in {100 * output['argmax_agreement']:.4g} %")
    if output["elements_beyond"]:
        parts.append(f"{output['elements_beyond']} of {output['elements']} elements beyond")
    if output["nan_mismatch"]:
        parts.append(f"{output['nan_mismatch']} NaN on one side only")
    for key, word in (("nan", "NaN"), ("infinite", "infinite")):
        if output.get(key):
            parts.append(f"{output[key]} of {output['elements']} elements {word}")
    label = one_line(f"Output {output['name']} ({output['dtype']})", 60)
    return Figure(label, _distance(output[f"max_abs_{unit}"], unit), note=", ".join(parts))


def _worst_figures(worst: Plain | None) -> Iterator[Figure]:
    if worst:
        index = ", ".join(map(str, worst["index"]))
        where = f"inference {worst['inference']}, {one_line(worst['name'], 60)}[{index}]"
        both = f"board {_number(worst['board'])}, PC {_number(worst['pc'])} ({worst['path']})"
        yield Figure("Worst element", both, note=where)


def _distance(value: float | None, unit: str) -> str:
    if value is None:
        return "not a number"
    if unit == "real":
        return f"{value:.3g}"
    return f"{value:.4g} step{'' if value == 1 else 's'}"


def _number(value: float | None) -> str:
    return "not a number" if value is None else f"{value:.6g}"
