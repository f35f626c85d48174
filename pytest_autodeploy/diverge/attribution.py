"""The cause of a difference, judged from the evidence, in the words that a failure prints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pytest_autodeploy.diverge.evidence import Evidence
from pytest_autodeploy.diverge.layers import apart_text

Cause = Literal["runtime", "board", "unstable", "pc", "open", "agree"]
"""What differs: the runtimes, the board or its firmware, the board from itself, the PC's own kernel
paths; open where TFLM on the PC could not be asked; agree where outputs do not differ."""

HEADLINES: dict[Cause, str] = {
    "runtime": "the runtimes differ, not the board",
    "board": "the board, its firmware or its kernel library",
    "unstable": "the board disagrees with itself: its memory or the transport",
    "pc": "the PC's kernel paths differ, the board is not to blame",
    "open": "the board or the runtime; TFLM on the PC would tell which",
    "agree": "outputs agree",
}


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
    words = (
        f"{_many(repeats.elements, 'output element')} in "
        f"{_many(len(repeats.inferences), 'inference')} changed in "
        f"{_many(repeats.count, 'repeat')} with the same inputs"
    )
    if repeats.same_again:
        words += "; the repeats agree among themselves: the first run met another state"
    return words


def _against_tflm(evidence: Evidence) -> list[str]:
    tflm = evidence.tflm
    if tflm is None:
        return []
    if tflm.exact:
        return ["the board is bit-exact with TFLM on the PC"]
    apart = apart_text(tflm.distance, evidence.unit)
    near = "within" if tflm.within else "off by"
    words = f"board and TFLM on the PC: {near} {apart}"
    if evidence.exact_expected:
        words += ", though both run the same kernels"
    return [words]


def _against_paths(evidence: Evidence) -> list[str]:
    parts = [
        f"{path} {'bit-exact' if gap.exact else apart_text(gap.distance, evidence.unit)}"
        for path, gap in evidence.paths.items()
    ]
    words = f"board and TFLite on the PC: {', '.join(parts)}"
    if evidence.agreeing:
        pinned = ", ".join(evidence.counting)
        words += f"; {evidence.agreeing[0]} agrees, and the test counts {pinned} only"
    return [words]


def _spread_line(evidence: Evidence) -> list[str]:
    if not evidence.apart or not evidence.spread:
        return []
    apart = apart_text(evidence.spread, evidence.unit)
    words = f"{' and '.join(evidence.apart)} on the PC are {apart} apart"
    return [words + (", as much as the board is off" if evidence.spread_covers else "")]


def _repeat_line(evidence: Evidence) -> list[str]:
    repeats = evidence.repeats
    return [f"the board gave the same in {_many(repeats.count, 'repeat')}"] if repeats else []


def _missing(evidence: Evidence) -> list[str]:
    return [f"{side} was not asked: {why}" for side, why in evidence.missing.items()]


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
