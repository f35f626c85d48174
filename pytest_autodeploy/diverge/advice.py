"""What to do about a difference."""

from __future__ import annotations

import math

from pytest_autodeploy.diverge.attribution import Cause
from pytest_autodeploy.diverge.evidence import Evidence
from pytest_autodeploy.diverge.findings import Findings

PLACEMENT = "--evb-arena-memory, --evb-model-memory and --evb-arena-kb"


def advice(cause: Cause, evidence: Evidence, found: Findings) -> tuple[str, ...]:
    """The next steps, the likeliest first."""
    if cause == "unstable":
        return (
            f"try other memories ({PLACEMENT}) and --evb-clock LP, then another cable and supply",
            "look for what writes into the arena: stack, DMA, interrupts, scratch buffers",
        )
    if cause == "board":
        return _of_board(found)
    if cause == "pc":
        return _of_pc(evidence)
    if cause == "open":
        return ("pip install 'pytest-autodeploy[sim]' brings TFLM to the PC", _declare(evidence))
    return (_declare(evidence),)


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
    steps = [f"check the kernel of {kind} in the firmware's library: link TFLM's own in its place"]
    if found.method == "cut models":
        steps.append(f"if its kernel is right, check the memories: {PLACEMENT}")
    return tuple(steps)


def _of_pc(evidence: Evidence) -> tuple[str, ...]:
    if not evidence.agreeing:
        return (_declare(evidence),)
    counting = ", ".join(evidence.counting)
    return (
        f'count another path: leave out reference="{counting}", which takes the nearest, or write '
        f'reference="{evidence.agreeing[0]}"',
        _declare(evidence),
    )


def _declare(evidence: Evidence) -> str:
    """The tolerance that this board would have passed with."""
    distance = evidence.distance
    if math.isinf(distance):
        return "no tolerance covers a NaN or an infinity: change the model or its operator"
    if evidence.unit == "steps":
        return f"if that is near enough for this model: output_tolerance(lsb={math.ceil(distance)})"
    return f"if that is near enough for this model: output_tolerance(atol={_rounded_up(distance)})"


def _rounded_up(value: float) -> str:
    """Two digits, not below the value."""
    digit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return f"{math.ceil(value / digit) * digit:.2g}"
