"""Whether a value is worse than its baseline or within, or whether noise hides that."""

from __future__ import annotations

from dataclasses import replace

from pytest_autodeploy.base.repeats import Repeats
from pytest_autodeploy.baseline.precision import (
    ALPHA,
    by_repeats,
    by_starts,
    start_noise,
    starts_missing,
    starts_needed,
)
from pytest_autodeploy.metrics.comparison import Row

ROUNDING = 1e-8
"""Values are kept to nine digits."""

UNSURE = 2
"""A value that may be worse by so many times the threshold is not within it."""

Sides = tuple[Repeats, Repeats]
"""What the repeats of the baseline say, and those now."""


def judge(
    row: Row,
    better: str,
    percent: float | None,
    floor: float,
    sides: Sides,
    alpha: float = ALPHA,
) -> Row:
    """Fill in the change, its bounds, what is allowed, and the state."""
    assert row.baseline is not None
    assert row.now is not None
    percentage = (percent or 0) * abs(row.baseline) / 100
    noise = by_repeats(*sides, alpha), by_starts(*sides, alpha)
    allowed, by = max(
        ((percentage, "percentage"), (floor, "floor"), (noise[0], "repeats"), (noise[1], "starts")),
        key=lambda pair: pair[0],
    )
    change, half = row.now - row.baseline, max(noise)
    worse = -change if better == "higher" else change
    rounding = ROUNDING * abs(row.baseline)
    beyond, threshold = allowed + rounding, max(percentage, floor)
    row = replace(
        row,
        worse=worse,
        allowed=allowed,
        by=by,
        threshold=threshold,
        low=change - half if half else None,
        high=change + half if half else None,
        note=_outliers(sides),
    )
    if worse > beyond:
        return replace(row, state="regression", more_starts=starts_missing(*sides))
    if half and worse + half > UNSURE * threshold + rounding:
        return cannot_tell(row, _why(sides, noise, threshold))
    return replace(row, state="improved" if worse < -beyond else "within")


def single(row: Row, sides: Sides) -> Row:
    """The row, unless one of its sides is a single repeat, which tells nothing of the noise."""
    if all(side.kept > 1 for side in sides):
        return row
    whose = "the baseline" if sides[0].kept < 2 else "this run"
    return cannot_tell(row, f"{whose} has one repeat, which tells nothing of the noise")


def unconfirmed(row: Row) -> Row:
    """A regression that too few starts of the board have shown."""
    starts = f"{row.more_starts} more start{'' if row.more_starts == 1 else 's'}"
    why = f"so few starts may all be in another mode of the board: {starts} would tell"
    return cannot_tell(row, f"{why} (--autodeploy-compare-runs, --autodeploy-compare-time)")


def cannot_tell(row: Row, why: str) -> Row:
    """The row, of which noise does not let tell whether it is worse."""
    return replace(row, state="cannot tell", note="; ".join(filter(None, (why, row.note))))


def _why(sides: Sides, noise: tuple[float, float], threshold: float) -> str:
    """What differs by how much, and what would tell more."""
    baseline, now = sides
    if noise[1] < noise[0]:
        spread = max(side.spread or 0.0 for side in sides)
        counts = f"{baseline.count} repeats in the baseline and {now.count} now"
        return f"repeats differ by {_share(spread, baseline)}, {counts}"
    text = f"starts of the board differ by {_share(start_noise(baseline, now)[0], baseline)}"
    needed = starts_needed(baseline, now, threshold)
    if needed is None:
        return f"{text}: the {baseline.starts} of the baseline are too few for any comparison"
    return f"{text}: --autodeploy-compare-runs {needed} would do"


def _share(value: float, of: Repeats) -> str:
    return f"{100 * value / abs(of.centre):.2g} %" if of.centre else f"{value:.3g}"


def _outliers(sides: Sides) -> str:
    """How many repeats were left out on each side."""
    baseline, now = sides
    parts = [
        f"{side.outliers} of {side.count} repeats {whose} are outliers"
        for side, whose in ((baseline, "of the baseline"), (now, "now"))
        if side.outliers
    ]
    return " and ".join(parts)
