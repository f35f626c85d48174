"""The cause of a difference, and what to do about it, in the words that a failure prints."""

from __future__ import annotations

import importlib.util
import math
from dataclasses import dataclass

from pytest_autodeploy.diagnosis.cause import Cause
from pytest_autodeploy.diagnosis.evidence import Evidence
from pytest_autodeploy.diagnosis.layers import apart_text
from pytest_autodeploy.diagnosis.scene import Findings

CONTROL_FLOW = ("IF", "WHILE")
PLACEMENT = "--evb-arena-memory, --evb-model-memory and --evb-arena-kb"


@dataclass(frozen=True)
class Attribution:
    """The cause, and the lines of evidence behind it."""

    cause: Cause
    lines: tuple[str, ...]


def attribute(evidence: Evidence) -> Attribution:
    """Judge the evidence; a board that is not even equal to itself is not compared with others."""
    return Attribution(_cause(evidence), tuple(_lines(evidence)))


def _cause(evidence: Evidence) -> Cause:
    tflm = evidence.tflm
    if evidence.unstable:
        return "unstable"
    if tflm and tflm.exact:
        return "pc" if evidence.agreeing else "runtime"
    if tflm and evidence.exact_expected and evidence.tflm_passes:
        return "board"
    if evidence.agreeing:
        return "pc"
    if tflm and evidence.exact_expected:
        return "board"
    if tflm and tflm.within:
        return "runtime"
    if evidence.spread_covers:
        return "pc"
    return "board" if tflm else "open"


def _lines(evidence: Evidence) -> list[str]:
    if evidence.unstable:
        return [_unstable_line(evidence), *_missing(evidence)]
    return [
        *_against_tflm(evidence),
        *_against_paths(evidence),
        *_spread_line(evidence),
        *_repeat_line(evidence),
        *_missing(evidence),
    ]


def _unstable_line(evidence: Evidence) -> str:
    repeats = evidence.repeats
    assert repeats is not None
    text = (
        f"{_many(repeats.elements, 'output element')} in "
        f"{_many(len(repeats.inferences), 'inference')} changed in "
        f"{_many(repeats.count, 'repeat')} with the same inputs"
    )
    if repeats.same_again:
        text += "; the repeats agree among themselves: the first run met another state"
    return text


def _against_tflm(evidence: Evidence) -> list[str]:
    tflm = evidence.tflm
    if tflm is None:
        return []
    if tflm.exact:
        return ["the board is bit-exact with TFLM on the PC"]
    apart = apart_text(tflm.distance, evidence.unit)
    near = "within" if tflm.within else "off by"
    text = f"board and TFLM on the PC: {near} {apart}"
    if evidence.exact_expected:
        text += ", though both run the same kernels"
    return [text]


def _against_paths(evidence: Evidence) -> list[str]:
    parts = [
        f"{path} {'bit-exact' if gap.exact else apart_text(gap.distance, evidence.unit)}"
        for path, gap in evidence.paths.items()
    ]
    text = f"board and TFLite on the PC: {', '.join(parts)}"
    if evidence.agreeing:
        pinned = ", ".join(evidence.counting)
        text += f"; {evidence.agreeing[0]} agrees, and the test counts {pinned} only"
    return [text]


def _spread_line(evidence: Evidence) -> list[str]:
    if not evidence.apart or not evidence.spread:
        return []
    apart = apart_text(evidence.spread, evidence.unit)
    text = f"{' and '.join(evidence.apart)} on the PC are {apart} apart"
    return [text + (", at least as much as the board is off" if evidence.spread_covers else "")]


def _repeat_line(evidence: Evidence) -> list[str]:
    repeats = evidence.repeats
    return [f"the board gave the same in {_many(repeats.count, 'repeat')}"] if repeats else []


def _missing(evidence: Evidence) -> list[str]:
    return [f"{side} was not asked: {why}" for side, why in evidence.missing.items()]


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def advice(
    cause: Cause, evidence: Evidence, found: Findings, distance: float | None = None
) -> tuple[str, ...]:
    """The next steps, the likeliest first.

    ``distance`` is that of the whole run, which may be more than that of the evidence.
    """
    declare = _declare(evidence, evidence.distance if distance is None else distance)
    if cause == "state":
        return (
            "link a kernel that keeps its state, such as TFLM's own in place of the library's",
            "or give each sequence in one inference, and test with --tflite-state reset",
        )
    if cause == "unstable":
        return (
            f"try other memories ({PLACEMENT}) and --evb-clock LP, then another cable and supply",
            "look for what writes into the arena: stack, DMA, interrupts, scratch buffers",
        )
    if cause == "board":
        return _of_board(found)
    if cause == "pc":
        return _of_pc(evidence, declare)
    if cause == "open" and importlib.util.find_spec("tflite_micro") is None:
        return ("pip install 'pytest-autodeploy[sim]' brings TFLM to the PC", declare)
    return (declare,)


def _of_board(found: Findings) -> tuple[str, ...]:
    if found.elsewhere == "memory":
        return (
            f"check the arena: try another size and other memories ({PLACEMENT})",
            "look for buffers that overlap: scratch buffers, an arena that is not aligned",
        )
    if found.elsewhere in ("input", "output"):
        return (f"check what touches the {found.elsewhere} tensor: caches, DMA, the transport",)
    if found.operator is None:
        return (f"check firmware and kernel library, and the memories: {PLACEMENT}",)
    kind = found.operator.operator
    kernel = f"the kernel of {kind}"
    if kind in CONTROL_FLOW:
        kernel = f"the kernels of the operators inside of {kind}, and its own,"
    steps = [f"check {kernel} in the firmware's library: link TFLM's own in its place"]
    if found.method == "cut models":
        steps.append(f"if its kernel is right, check the memories: {PLACEMENT}")
    return tuple(steps)


def _of_pc(evidence: Evidence, declare: str) -> tuple[str, ...]:
    if not evidence.agreeing:
        return (declare,)
    counting = ", ".join(evidence.counting)
    return (
        f'let the nearest kernels count instead of reference="{counting}", or pin another one: '
        f'reference="{evidence.agreeing[0]}"',
        declare,
    )


def _declare(evidence: Evidence, distance: float) -> str:
    """The tolerance that this board would have passed with."""
    if math.isinf(distance):
        return "no tolerance covers a NaN or an infinity: change the model or its operator"
    if evidence.unit == "steps":
        tolerance = f"lsb={math.ceil(distance)}"
    else:
        tolerance = f"atol={_rounded_up(distance)}"
    return f"declare output_tolerance({tolerance}), if that is near enough for this model"


def _rounded_up(value: float) -> str:
    """Two digits, not below the value."""
    if not value:
        return "0"
    digit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return f"{math.ceil(value / digit) * digit:.2g}"
