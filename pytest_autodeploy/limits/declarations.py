"""The declarations of all metrics, in the order in which limits are judged.

They cost nothing to load; what measures and judges is in run/metrics.py.
"""

from __future__ import annotations

from pytest_autodeploy.limits import accuracy, energy, latency, memory, npu, outputs, sensitivity
from pytest_autodeploy.limits.declared import declare
from pytest_autodeploy.limits.regression import NoRegression, regression

_MEASURED = (
    outputs.DECLARATION,
    sensitivity.DECLARATION,
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


def default_regression() -> NoRegression:
    """What a baseline allows when nobody said anything."""
    limit: NoRegression = declare(REGRESSION, "default").limit
    return limit
