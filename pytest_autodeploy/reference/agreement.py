"""How near the board came to the PC: plain figures, and the words for them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from pytest_autodeploy.limits.tolerance import steps_text
from pytest_autodeploy.reference.facts import OutputFacts

Unit = Literal["steps", "real"]


@dataclass(frozen=True)
class OutputAgreement:
    """One output over all inferences, each held against its nearest kernels.

    ``*_steps`` are stored integers (None for floats), ``*_real`` dequantised values;
    ``relative_l2``, ``cosine`` and ``nse`` are of dequantised values too, with the formulas of
    ``metrics.ErrorMetrics``. ``elements_beyond`` the limit, and the share of inferences with the
    same largest element (``argmax_agreement``, None where an output has one element).
    ``nan_mismatch`` counts elements that are NaN on one side only. ``distances``: the largest
    distance per path, in ``unit``. ``nan``, ``infinite``, ``constant`` and ``saturated`` are the
    board's own, see ``OutputFacts``.
    """

    name: str
    dtype: str
    max_abs_steps: float | None
    mean_abs_steps: float | None
    max_abs_real: float
    mean_abs_real: float
    rmse_real: float
    relative_l2: float | None
    cosine: float | None
    nse: float | None
    elements: int
    elements_beyond: int
    argmax_agreement: float | None
    nan_mismatch: int
    unit: Unit
    distances: Mapping[str, float]
    tolerance: str
    nan: int = 0
    infinite: int = 0
    constant: bool = False
    saturated: float = 0.0

    @property
    def facts(self) -> OutputFacts:
        """What the board's output says of itself."""
        return OutputFacts(
            self.name, self.elements, self.nan, self.infinite, self.constant, self.saturated
        )


@dataclass(frozen=True)
class WorstElement:
    """The element that is farthest out, as a share of its limit.

    ``board`` and ``pc`` are stored values; ``limit`` is in steps or in real units as ``unit`` says.
    """

    output: int
    name: str
    inference: int
    index: tuple[int, ...]
    board: float
    pc: float
    steps: float | None
    real: float
    limit: float
    unit: Unit
    path: str


@dataclass(frozen=True)
class Agreement:
    """The verdict over ``count`` inferences, with the figures behind it.

    ``nearest``: per path, the inferences for which it was the nearest. ``distances``: per path,
    the largest distance of all inferences in ``distance_unit``: steps over the integer outputs,
    real units when there are only float outputs. ``exact``: bit-exact with the nearest kernels in
    every inference; ``exact_paths``: bit-exact with that path in every inference.
    ``failed_inferences``: numbers of those with an element beyond its limit. ``failed_paths``: why
    a path could not run. ``worst`` is None when nothing differs.
    """

    passed: bool
    count: int
    outputs: tuple[OutputAgreement, ...]
    nearest: Mapping[str, int]
    distances: Mapping[str, float]
    distance_unit: Unit
    exact: bool
    exact_paths: tuple[str, ...]
    worst: WorstElement | None
    failed_inferences: tuple[int, ...]
    share_beyond: float
    tolerance: str
    reference: str
    failed_paths: Mapping[str, str]

    @property
    def not_finite(self) -> str:
        """Such as ``80 of 80 elements are NaN``, by output; nothing when all are finite."""
        odd = [output.facts for output in self.outputs if output.facts.not_finite]
        return "; ".join(f"output {facts.name!r}: {facts.not_finite}" for facts in odd)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Why these inputs tell little, and which outputs are not finite though it is allowed."""
        odd = [self.not_finite] if self.not_finite else []
        return (*odd, *(text for output in self.outputs for text in output.facts.warnings))

    @property
    def distance(self) -> float:
        """The largest distance to the nearest kernels, in ``distance_unit``."""
        return _farthest(self, self.distance_unit)


def describe(agreement: Agreement) -> str:
    """In a few words, such as ``within 1 step of optimized (9 of 10), ref (1 of 10)``.

    With what makes it less than it seems: NaN, outputs that never change.
    """
    return "; ".join((_distance_text(agreement), *agreement.warnings))


def _distance_text(agreement: Agreement) -> str:
    exact = [path for path in agreement.exact_paths if path in agreement.nearest]
    if exact:
        return f"bit-exact with {exact[0]}"
    paths = _nearest_text(agreement)
    if agreement.exact:
        return f"bit-exact with {paths}"
    apart = " and ".join(
        distance_text(_farthest(agreement, unit), unit) for unit in _units(agreement)
    )
    if agreement.passed:
        return f"within {apart} of {paths}"
    return f"{apart} from {paths}, allowed {agreement.tolerance}"


def failure_text(agreement: Agreement) -> str:
    """The lines that explain a failure: the worst element, how many others, and every path."""
    lines = [*_worst_lines(agreement), *map(_output_line, agreement.outputs)]
    lines += agreement.warnings
    lines.append(
        f"inferences beyond the limit: {_of(len(agreement.failed_inferences), agreement.count)}"
        + _numbers(agreement.failed_inferences)
    )
    lines.append(f"nearest kernels: {_nearest_text(agreement)}")
    lines.append("largest distance to each: " + _distances_text(agreement))
    lines += [f"{path} kernels failed: {why}" for path, why in agreement.failed_paths.items()]
    return "\n".join(lines)


def distance_text(value: float, unit: Unit) -> str:
    """A distance with its unit, such as ``18 steps`` or ``1.2e-07``."""
    return steps_text(value) if unit == "steps" else f"{value:.3g}"


def _worst_lines(agreement: Agreement) -> Iterable[str]:
    worst = agreement.worst
    if worst is None:
        return
    index = ", ".join(map(str, worst.index))
    yield f"output {worst.output} {worst.name!r}, inference {worst.inference}, element [{index}]:"
    yield f"  board {worst.board:.9g}, PC {worst.pc:.9g} ({worst.path} kernels)"
    if not math.isfinite(worst.board):
        yield '  not finite; output_tolerance(nan="allow") allows it where the PC has the same'
        return
    apart = distance_text(worst.real, "real")
    if worst.steps is not None:
        apart = f"{distance_text(worst.steps, 'steps')} ({apart})"
    yield f"  {apart} apart, limit {distance_text(worst.limit, worst.unit)}"


def _output_line(output: OutputAgreement) -> str:
    share = 100 * output.elements_beyond / max(output.elements, 1)
    text = f"{_of(output.elements_beyond, output.elements)} elements ({share:.3g} %)"
    if output.nan_mismatch:
        text += f", {output.nan_mismatch} of them NaN on one side only"
    return f"output {output.name!r}: {text} beyond {output.tolerance}"


def _distances_text(agreement: Agreement) -> str:
    return ", ".join(
        f"{path} {distance_text(value, agreement.distance_unit)}"
        for path, value in agreement.distances.items()
    )


def _nearest_text(agreement: Agreement) -> str:
    near = {path: times for path, times in agreement.nearest.items() if times}
    if len(near) == 1:
        return next(iter(near))
    ordered = sorted(near.items(), key=lambda item: -item[1])
    return ", ".join(f"{path} ({_of(times, agreement.count)})" for path, times in ordered)


def _numbers(numbers: tuple[int, ...], most: int = 10) -> str:
    if not numbers:
        return ""
    more = ", ..." if len(numbers) > most else ""
    return f" (number {', '.join(map(str, numbers[:most]))}{more})"


def _of(part: int, whole: int) -> str:
    return f"{part} of {whole}"


def _units(agreement: Agreement) -> tuple[Unit, ...]:
    units = {output.unit for output in agreement.outputs}
    return tuple(unit for unit in ("steps", "real") if unit in units)


def _farthest(agreement: Agreement, unit: Unit) -> float:
    return max(
        output.max_abs_real if output.max_abs_steps is None else output.max_abs_steps
        for output in agreement.outputs
        if output.unit == unit
    )
