"""What verdicts rest on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_autodeploy.diagnosis.sensitivity.sensitivity import Sensitivity
    from pytest_autodeploy.limits.tolerance import Tolerance
    from pytest_autodeploy.metrics.accuracy.compare import TaskComparison
    from pytest_autodeploy.metrics.comparison import Comparison
    from pytest_autodeploy.reference.agreement import Agreement


@dataclass
class Evidence:
    """The comparisons that verdicts rest on, for reports; ``tolerance`` is that of the agreement.

    Of several agreements one that failed counts, else the first.
    """

    agreement: Agreement | None = None
    tolerance: Tolerance | None = None
    accuracy: TaskComparison | None = None
    sensitivity: Sensitivity | None = None
    comparison: Comparison | None = None
