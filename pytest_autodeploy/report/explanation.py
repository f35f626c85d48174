"""Why outputs differ, for the HTML report."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pytest_autodeploy.base.figure import Figure
from pytest_autodeploy.base.table import Column
from pytest_autodeploy.base.text import one_line
from pytest_autodeploy.metrics.records.diagnosis import ErrorRecord

if TYPE_CHECKING:
    from pytest_autodeploy.metrics.records.diagnosis import ExplanationRecord, OperatorRecord
    from pytest_autodeploy.metrics.result import Recorded

WIDTH, HEIGHT, LEFT, BOTTOM = 640, 150, 64, 22
_WIDEST_BAR = 40
_SIZE_OF_NAN = 8.0
_NO_ERRORS = ErrorRecord(None, None, None, None, None, None)


def explanation_parts(record: Recorded) -> dict[str, Any] | None:
    """What the template of an explanation needs, None for a record without one."""
    explanation = record.explanation
    if not explanation:
        return None
    operator = explanation.operator
    agree = explanation.cause == "agree"
    return {
        "title": f"{'Operators' if agree else 'Why'}: {one_line(explanation.headline)}",
        "lines": [one_line(line, 400) for line in explanation.lines],
        "where": one_line(explanation.where, 400),
        "output": _output(operator) if operator else "",
        "elements": _elements(explanation, operator) if operator else "",
        "advice": [one_line(line, 400) for line in explanation.advice],
        "problems": [one_line(line, 400) for line in explanation.problems],
        "picture": _picture(explanation) if explanation.layers else None,
        "columns": _columns(explanation.layers),
    }


def compared_figure(result: Recorded) -> Figure | None:
    """That the operators were compared, where that was asked for and no failure tells of it."""
    explanation = result.explanation
    if not explanation or explanation.cause != "agree":
        return None
    layers = explanation.layers
    notes = list(explanation.problems)
    if layers:
        most = max(layers, key=lambda layer: _size(layer.apart, layer))
        notes.insert(0, f"{_distance(most.apart, most)} apart at most")
    note = "; ".join(notes)
    return Figure("Operators compared", str(len(layers)), note=one_line(note, 400))


def _columns(layers: Sequence[OperatorRecord]) -> list[Column]:
    """A row per operator: how far the sides are apart after it, and what it adds itself."""
    if not layers:
        return []
    errors = [layer.metrics or _NO_ERRORS for layer in layers]
    return [
        Column("Operator", [_label(layer) for layer in layers]),
        Column("Apart", [_distance(layer.apart, layer) for layer in layers], right=True),
        Column("Adds", [_distance(layer.adds, layer) for layer in layers], right=True),
        Column("RMSE", [_number(each.rmse) for each in errors], right=True),
        Column("Relative L2", [_number(each.relative_l2) for each in errors], right=True),
        Column("Cosine", [_number(each.cosine, 6) for each in errors], right=True),
        Column("NSE", [_number(each.nse, 6) for each in errors], right=True),
    ]


def _number(value: float | None, digits: int = 3) -> str:
    return "" if value is None else f"{value:.{digits}g}"


def _output(operator: OperatorRecord) -> str:
    parts = [f"{operator.dtype} {list(operator.shape)}"]
    if operator.scale is not None:
        parts.append(f"scale {operator.scale:.6g}, zero point {operator.zero_point}")
    name = one_line(operator.tensor_name, 60)
    return f"output: tensor {operator.tensor} {name}, {', '.join(parts)}"


def _elements(explanation: ExplanationRecord, operator: OperatorRecord) -> str:
    if not operator.first:
        return ""
    left, right = explanation.left, explanation.right
    inference = explanation.inference
    return f"inference {inference}, first elements: " + "; ".join(
        f"{list(element.index)} {left} {_value(element.left)}, {right} {_value(element.right)}"
        for element in operator.first
    )


def _value(value: float | None) -> str:
    return "not a number" if value is None else f"{value:.9g}"


def _picture(explanation: ExplanationRecord) -> dict[str, Any]:
    """A bar per operator: light how far the sides are apart after it, dark what it adds itself."""
    layers = explanation.layers
    top = max(map(_most, layers)) or 1.0
    slot = (WIDTH - LEFT) / len(layers)
    bar = min(slot * 0.8, _WIDEST_BAR)
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "left": LEFT,
        "bottom": HEIGHT - BOTTOM,
        "title": f"Distance of {explanation.left} and {explanation.right} by operator",
        "bars": [
            {
                "x": round(LEFT + slot * (number + 0.5) - bar / 2, 1),
                "width": round(bar, 1),
                "apart": _height(layer.apart, layer, top),
                "adds": _height(layer.adds, layer, top),
                "wrong": layer.wrong,
                "title": _bar_title(layer),
            }
            for number, layer in enumerate(layers)
        ],
        "first": _label(layers[0]),
        "last": _label(layers[-1]),
        "top": _top(layers),
    }


def _size(distance: float | None, layer: OperatorRecord) -> float:
    """The logarithm of a distance, counted in what right kernels may differ by."""
    if distance is None:
        return _SIZE_OF_NAN if layer.not_a_number else 0.0
    return math.log2(1 + distance / (layer.least or 1.0))


def _most(layer: OperatorRecord) -> float:
    return max(_size(layer.apart, layer), _size(layer.adds, layer))


def _height(distance: float | None, layer: OperatorRecord, top: float) -> float:
    return round((HEIGHT - BOTTOM - 14) * _size(distance, layer) / top, 1)


def _label(layer: OperatorRecord) -> str:
    return one_line(f"{layer.position} {layer.operator}", 24)


def _bar_title(layer: OperatorRecord) -> str:
    apart, adds = _distance(layer.apart, layer), _distance(layer.adds, layer)
    return one_line(f"{layer.position} {layer.operator}: {apart} apart, adds {adds}")


def _distance(distance: float | None, layer: OperatorRecord) -> str:
    if distance is None:
        return "not a number" if layer.not_a_number else "unknown"
    if layer.unit == "real":
        return f"{distance:.3g}"
    return f"{distance:.4g} step{'' if distance == 1 else 's'}"


def _top(layers: Sequence[OperatorRecord]) -> str:
    """The largest distance of all operators, in words."""
    most = max(layers, key=_most)
    apart = _size(most.apart, most) >= _size(most.adds, most)
    return _distance(most.apart if apart else most.adds, most)
