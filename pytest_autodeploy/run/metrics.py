"""All metrics: their declarations, which cost nothing to load, and what measures and judges them.

A new metric is a declaration in limits/, a class in metrics/, and a line in each list here.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from pytest_autodeploy.limits import accuracy, energy, latency, memory, npu, outputs
from pytest_autodeploy.limits.merging import declare
from pytest_autodeploy.limits.regression import NoRegression, regression
from pytest_autodeploy.settings.options import options

if TYPE_CHECKING:
    from pytest_autodeploy.metrics.metric import Metric

_MEASURED = (
    outputs.DECLARATION,
    latency.DECLARATION,
    memory.DECLARATION,
    energy.ENERGY,
    energy.POWER,
    accuracy.DECLARATION,
    npu.DECLARATION,
)
REGRESSION = regression(_MEASURED)
DECLARATIONS = (*_MEASURED, REGRESSION)
BY_NAME = {declaration.name: declaration for declaration in DECLARATIONS}
OPTIONS = options(DECLARATIONS)


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

    measured: tuple[Metric, ...] = (
        Outputs(),
        LatencyMetric(),
        Memory(),
        EnergyMetric(),
        PowerMetric(),
        Accuracy(),
        Npu(),
    )
    every: tuple[Metric, ...] = (*measured, Regression(REGRESSION, measured))
    return {metric.declaration.name: metric for metric in every}


def default_regression() -> NoRegression:
    """What a baseline allows when nobody said anything."""
    limit: NoRegression = declare(REGRESSION, "default").limit
    return limit
