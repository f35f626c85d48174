"""What a test demands of a model on data with labels: the limit that ``accuracy`` declares."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pytest_autodeploy.base.numbers import check_number
from pytest_autodeploy.limits.declaration import Declaration
from pytest_autodeploy.limits.numbers import check_count

SUFFIX = ".tflite"


@dataclass(frozen=True)
class Task:
    """What is judged: ``output`` by its number, and how many of the highest classes count."""

    top_k: int = 1
    output: int = 0


@dataclass(frozen=True)
class AccuracyLimit:
    """The least accuracy, and how much lower than the PC's it may be; of real targets RMSE and R².

    ``against`` is the model that the PC runs, None for the board's own.
    """

    task: Task
    min: float | None = None
    max_drop: float | None = None
    max_rmse: float | None = None
    min_r2: float | None = None
    against: str | None = None


def accuracy(
    *,
    min: float | None = None,  # noqa: A002  # what a user writes
    max_drop: float | None = None,
    top_k: int = 1,
    output: int = 0,
    max_rmse: float | None = None,
    min_r2: float | None = None,
    against: str | Path | None = None,
) -> AccuracyLimit:
    """Declare how accurate a model must be on labelled data.

    ``min`` and ``max_drop`` (the PC's minus the board's) are shares of the samples, 0 to 1; for
    real targets ``max_rmse`` is in the output's unit, and ``max_drop`` is a drop of R².
    """
    for name, share in (("min", min), ("max_drop", max_drop), ("min_r2", min_r2)):
        check_number(name, share, most=1)
    check_number("max_rmse", max_rmse)
    check_count("top_k", top_k, least=1)
    check_count("output", output, least=0)
    if (min, max_drop, max_rmse, min_r2) == (None,) * 4:
        raise ValueError("give at least one of min, max_drop, max_rmse and min_r2")
    if (max_rmse, min_r2) != (None, None) and (min is not None or top_k != 1):
        raise ValueError("min and top_k are for classes, max_rmse and min_r2 for real targets")
    path = None if against is None else _model_path(against)
    return AccuracyLimit(Task(top_k, output), min, max_drop, max_rmse, min_r2, path)


def _model_path(against: object) -> str:
    if not isinstance(against, str | Path) or Path(against).suffix != SUFFIX:
        raise ValueError(f"against must be the path of a {SUFFIX} file, not {against!r}")
    return str(against)


DECLARATION = Declaration(
    name="accuracy",
    signature=accuracy,
    flag="--tflite-accuracy",
    marker_help="on inputs with labels at least min of the samples are right, and at most max_drop "
    "less than on the PC; for real targets RMSE and R²; against is another .tflite file for the "
    "PC, such as the float one",
    option_help="Limit of the built-in accuracy test, such as min=0.9,max_drop=0.01 or "
    "max_rmse=0.2; against=FILE lets the PC run another .tflite file",
    suite_test="test_accuracy",
    needs="labels",
    which=("top_k", "output", "against"),
)
