"""The bounds of accuracy, RMSE, R² and their drop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_autodeploy.base.measurement import Measurement
    from pytest_autodeploy.limits.accuracy import AccuracyLimit
    from pytest_autodeploy.metrics.accuracy.compare import TaskComparison

ROUNDING = 1e-9
"""A drop is a difference of shares: 0.98 - 0.97 is to be within 0.01."""


@dataclass(frozen=True)
class Bound:
    """A value that may not be below (``least``) or above its limit."""

    what: str
    value: float | None
    measurement: Measurement | None
    limit: float | None
    least: bool

    @property
    def met(self) -> bool:
        """Whether the value keeps to it."""
        value, limit = self.value or 0.0, self.limit or 0.0
        return value >= limit - ROUNDING if self.least else value <= limit + ROUNDING

    @property
    def text(self) -> str:
        """The limit, such as ``at least 0.97``."""
        return f"at {'least' if self.least else 'most'} {self.limit:.6g}"


def bounds_of(limit: AccuracyLimit, comparison: TaskComparison) -> list[Bound]:
    """The bounds that a limit sets."""
    board, figure = comparison.board, comparison.board_figure
    drop = "accuracy" if comparison.are_classes else "R²"
    bounds = [
        Bound("accuracy", board.accuracy, figure("accuracy"), limit.min, least=True),
        Bound("RMSE", board.rmse, figure("rmse"), limit.max_rmse, least=False),
        Bound("R²", board.r2, figure("r2"), limit.min_r2, least=True),
        Bound(
            f"drop of {drop} from the PC to the board",
            comparison.drop,
            comparison.drop_figure(),
            limit.max_drop,
            least=False,
        ),
    ]
    return [bound for bound in bounds if bound.limit is not None]
