"""What was found out about a difference, as words for a failure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_autodeploy.diagnosis.cause import HEADLINES, Cause
from pytest_autodeploy.diagnosis.layers import Element, Layer, apart_text
from pytest_autodeploy.diagnosis.scene import Findings


@dataclass(frozen=True)
class Explanation:
    """Why outputs differ, and where that starts.

    ``lines``: the evidence; ``found``: what the comparison operator by operator came to;
    ``advice``: what to do; ``problems``: what could not be done, and why. ``inference`` is the
    number, in the test's run, of the one whose operators were compared. ``requested``: figures of
    every operator were asked for.
    """

    cause: Cause
    lines: tuple[str, ...]
    inference: int
    found: Findings
    advice: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    requested: bool = False

    @property
    def headline(self) -> str:
        """The cause in words."""
        return HEADLINES[self.cause]


def text(explanation: Explanation) -> str:
    """The whole explanation, line by line."""
    lines = [f"why: {explanation.headline}", *(f"  {line}" for line in explanation.lines)]
    if explanation.found.where:
        lines += [f"where: {explanation.found.where}", *_operator_lines(explanation)]
    lines += [f"to do: {line}" for line in explanation.advice]
    lines += [f"not done: {line}" for line in explanation.problems]
    return "\n".join(lines)


def layer_table(layers: Sequence[Layer]) -> str:
    """One line per operator: how far the sides are apart, and what it adds."""
    rows = [("operator", "apart", "adds", "output")]
    rows += [
        (layer.label, _cell(layer.apart, layer), _cell(layer.adds, layer), layer.output_text)
        for layer in layers
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return "\n".join(
        f"{row[0]:<{widths[0]}}  {row[1]:>{widths[1]}}  {row[2]:>{widths[2]}}  {row[3]}"
        for row in rows
    )


def _cell(distance: float | None, layer: Layer) -> str:
    if distance is None:
        return "?"
    return "NaN" if math.isinf(distance) else apart_text(distance, layer.unit)


def _operator_lines(explanation: Explanation) -> list[str]:
    found, layer = explanation.found, explanation.found.operator
    if layer is None:
        return []
    lines = [f"  output: {layer.output_text}"]
    if layer.first:
        shown = "; ".join(element_text(each, found.left, found.right) for each in layer.first)
        lines.append(f"  inference {explanation.inference}, first elements: {shown}")
    return lines


def element_text(element: Element, left: str, right: str) -> str:
    """An element that differs, such as ``[0, 3] board 17, TFLM 5``."""
    index = ", ".join(map(str, element.index))
    return f"[{index}] {left} {element.left:.9g}, {right} {element.right:.9g}"
