"""What measures and judges each metric, in the order of their declarations.

A new metric is a declaration in limits/, a class in metrics/, a line in limits/declarations.py and
one here.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from pytest_autodeploy.limits.declarations import REGRESSION

if TYPE_CHECKING:
    from pytest_autodeploy.metrics.metric import Metric


@cache
def metrics() -> Mapping[str, Metric]:
    """The metrics by the name of their declaration, in the order in which they are judged."""
    from pytest_autodeploy.baseline.regression import Regression
    from pytest_autodeploy.metrics.accuracy.metric import Accuracy
    from pytest_autodeploy.metrics.energy import EnergyMetric, PowerMetric
    from pytest_autodeploy.metrics.latency import LatencyMetric
    from pytest_autodeploy.metrics.memory import Memory
    from pytest_autodeploy.metrics.npu import Npu
    from pytest_autodeploy.metrics.outputs import Outputs
    from pytest_autodeploy.metrics.sensitivity import InputSensitivity

    measured: tuple[Metric, ...] = (
        Outputs(),
        InputSensitivity(),
        LatencyMetric(),
        Memory(),
        EnergyMetric(),
        PowerMetric(),
        Accuracy(),
        Npu(),
    )
    every: tuple[Metric, ...] = (*measured, Regression(REGRESSION, measured))
    return {metric.declaration.name: metric for metric in every}
