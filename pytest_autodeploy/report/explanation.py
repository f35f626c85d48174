"""Why outputs differ, for the HTML report; from the plain data of an ``Explanation``."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_autodeploy.base.figure import Figure
from pytest_autodeploy.base.table import Column
from pytest_autodeploy.base.text import one_line

Plain = Mapping[str, Any]

WIDTH, HEIGHT, LEFT, BOTTOM = 640, 150, 64, 22
_WIDEST_BAR = 40
_SIZE_OF_NAN = 8.0


def explanation_parts(record: Plain) -> dict[str, Any] | None:
    """What the template of an explanation needs, None for a record without one."""
    explanation = record.get("explanation")
    if not explanation:
        return None
    operator = explanation["operator"]
    agree = explanation["cause"] == "agree"
    return {
        "title": f"{'Operators' if agree else 'Why'}: {one_line(explanation['headline'])}",
        "lines": [one_line(line, 400) for line in explanation["lines"]],
        "where": one_line(explanation["where"], 400),
        "output": _output(operator) if operator else "",
        "elements": _elements(explanation) if operator and operator["first"] else "",
        "advice": [one_line(line, 400) for line in explanation["advice"]],
        "problems": [one_line(line, 400) for line in explanation["problems"]],
        "picture": _picture(explanation) if explanation["layers"] else None,
        "columns": _columns(explanation["layers"]),
    }


def compared_figure(result: Plain) -> Figure | None:
    """That the operators were compared, where that was asked for and no failure tells of it."""
    explanation = result.get("explanation")
    if not explanation or explanation["cause"] != "agree":
        return None
    layers = explanation["layers"]
    notes = list(explanation["problems"])
    if layers:
        most = max(layers, key=lambda layer: _size(layer, "apart"))
        notes.insert(0, f"{_distance(most, 'apart')} apart at most")
    note = "; ".join(notes)
    return Figure("Operators compared", str(len(layers)), note=one_line(note, 400))


def _columns(layers: Sequence[Plain]) -> list[Column]:
    """A row per operator: how far the sides are apart after it, and what it adds itself."""
    if not layers:
        return []
    metrics = [layer["metrics"] or {} for layer in layers]
    return [
        Column("Operator", [_label(layer) for layer in layers]),
        Column("Apart", [_distance(layer, "apart") for layer in layers], right=True),
        Column("Adds", [_distance(layer, "adds") for layer in layers], right=True),
        Column("RMSE", [_number(each.get("rmse")) for each in metrics], right=True),
        Column("Relative L2", [_number(each.get("relative_l2")) for each in metrics], right=True),
        Column("Cosine", [_number(each.get("cosine"), 6) for each in metrics], right=True),
        Column("NSE", [_number(each.get("nse"), 6) for each in metrics], right=True),
    ]


def _number(value: float | None, digits: int = 3) -> str:
    return "" if value is None else f"{value:.{digits}g}"


def _output(operator: Plain) -> str:
    parts = [f"{operator['dtype']} {operator['shape']}"]
    if operator["scale"] is not None:
        parts.append(f"scale {operator['scale']:.6g}, zero point {operator['zero_point']}")
    name = one_line(operator["tensor_name"], 60)
    return f"output: tensor {operator['tensor']} {name}, {', '.join(parts)}"


def _elements(explanation: Plain) -> str:
    left, right = explanation["left"], explanation["right"]
    inference = explanation["inference"]
    return f"inference {inference}, first elements: " + "; ".join(
        f"{element['index']} {left} {_value(element['left'])}, {right} {_value(element['right'])}"
        for element in explanation["operator"]["first"]
    )


def _value(value: float | None) -> str:
    return "not a number" if value is None else f"{value:.9g}"


def _picture(explanation: Plain) -> dict[str, Any]:
    """A bar per operator: light how far the sides are apart after it, dark what it adds itself."""
    layers = explanation["layers"]
    top = max(_size(layer, name) for layer in layers for name in ("apart", "adds")) or 1.0
    slot = (WIDTH - LEFT) / len(layers)
    bar = min(slot * 0.8, _WIDEST_BAR)
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "left": LEFT,
        "bottom": HEIGHT - BOTTOM,
        "title": f"Distance of {explanation['left']} and {explanation['right']} by operator",
        "bars": [
            {
                "x": round(LEFT + slot * (number + 0.5) - bar / 2, 1),
                "width": round(bar, 1),
                "apart": _height(layer, "apart", top),
                "adds": _height(layer, "adds", top),
                "wrong": layer["wrong"],
                "title": _bar_title(layer),
            }
            for number, layer in enumerate(layers)
        ],
        "first": _label(layers[0]),
        "last": _label(layers[-1]),
        "top": _most(layers),
    }


def _size(layer: Plain, name: str) -> float:
    """The logarithm of a distance, counted in what right kernels may differ by."""
    distance = layer[name]
    if distance is None:
        return _SIZE_OF_NAN if layer["not_a_number"] else 0.0
    return math.log2(1 + distance / (layer["least"] or 1.0))


def _height(layer: Plain, name: str, top: float) -> float:
    return round((HEIGHT - BOTTOM - 14) * _size(layer, name) / top, 1)


def _label(layer: Plain) -> str:
    return one_line(f"{layer['position']} {layer['operator']}", 24)


def _bar_title(layer: Plain) -> str:
    apart, adds = (_distance(layer, name) for name in ("apart", "adds"))
    return one_line(f"{layer['position']} {layer['operator']}: {apart} apart, adds {adds}")


def _distance(layer: Plain, name: str) -> str:
    value = layer[name]
    if value is None:
        return "not a number" if layer["not_a_number"] else "unknown"
    if layer["unit"] == "real":
        return f"{value:.3g}"
    return f"{value:.4g} step{'' if value == 1 else 's'}"


def _most(layers: Sequence[Plain]) -> str:
    most = max(layers, key=lambda layer: max(_size(layer, "apart"), _size(layer, "adds")))
    name = "apart" if _size(most, "apart") >= _size(most, "adds") else "adds"
    return _distance(most, name)
