"""How long an inference may take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pytest_autodeploy.base.numbers import check_number
from pytest_autodeploy.limits.declaration import Declaration, Group
from pytest_autodeploy.limits.numbers import check_choice

Statistic = Literal["median", "p95", "max", "first"]
STATISTICS: tuple[Statistic, ...] = ("median", "p95", "max", "first")


@dataclass(frozen=True)
class LatencyBudget:
    """The longest that one inference may take, in microseconds."""

    us: float
    statistic: Statistic = "median"


def latency_budget(
    *, ms: float | None = None, us: float | None = None, statistic: Statistic = "median"
) -> LatencyBudget:
    """Declare the longest that one inference may take."""
    check_number("ms", ms, above=True)
    check_number("us", us, above=True)
    check_choice("statistic", statistic, STATISTICS)
    if ms is not None and us is None:
        return LatencyBudget(1e3 * ms, statistic)
    if us is not None and ms is None:
        return LatencyBudget(us, statistic)
    raise ValueError("give either ms or us")


DECLARATION = Declaration(
    name="latency_budget",
    signature=latency_budget,
    flag="--tflite-latency-budget",
    marker_help="one inference takes at most that long; give ms or us; "
    'statistic "median", "p95", "max" or "first"',
    option_help="Budget of the built-in latency test, such as ms=25 or us=900,statistic=p95",
    suite_test="test_latency",
    which=("statistic",),
    alternatives=(("ms", "us"),),
    groups=(
        Group(
            "latency",
            ("latency_median",),
            5,
            floor_keyword="floor_us",
            floor_default=10.0,
            noisy=True,
        ),
        Group(
            "per_layer",
            (),
            10,
            floor_keyword="floor_us",
            floor_default=10.0,
            suite_test="test_layer_profile",
            noisy=True,
        ),
    ),
)
