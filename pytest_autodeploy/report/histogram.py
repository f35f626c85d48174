"""The histogram of latencies, ready to be drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_autodeploy.base.units import si

if TYPE_CHECKING:
    from pytest_autodeploy.profile.records import Histogram

_WIDTH, _HEIGHT, _GAP = 360, 118, 1


def histogram_parts(times: Histogram | None) -> dict[str, Any] | None:
    """What the template of a histogram needs; None without one."""
    if times is None:
        return None
    most, number = max(times.counts), len(times.counts)
    step = _WIDTH / number
    bars = []
    for at, count in enumerate(times.counts):
        height = round(_HEIGHT * count / most)
        bars.append(
            {
                "x": round(at * step, 1),
                "y": _HEIGHT - height,
                "width": round(step - _GAP, 1),
                "height": height,
            }
        )
    return {
        "total": sum(times.counts),
        "source": times.source,
        "low": si(times.low_us, "us"),
        "high": si(times.high_us, "us"),
        "most": most,
        "width": _WIDTH,
        "bars": bars,
    }
