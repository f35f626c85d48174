"""How near the board came to the PC, as a record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_autodeploy.metrics.records.plain import recorded
from pytest_autodeploy.reference.agreement import Unit, describe

if TYPE_CHECKING:
    from pytest_autodeploy.reference.agreement import Agreement


@dataclass(frozen=True)
class OutputRecord:
    """One output, see ``reference.agreement.OutputAgreement``; None also where it is not finite."""

    name: str
    dtype: str
    max_abs_steps: float | None
    mean_abs_steps: float | None
    max_abs_real: float | None
    mean_abs_real: float | None
    rmse_real: float | None
    relative_l2: float | None
    cosine: float | None
    nse: float | None
    elements: int
    elements_beyond: int
    argmax_agreement: float | None
    nan_mismatch: int
    unit: Unit
    distances: Mapping[str, float | None]
    tolerance: str
    nan: int
    infinite: int
    constant: bool
    saturated: float


@dataclass(frozen=True)
class WorstRecord:
    """The element that is farthest out; None where a value is not finite."""

    output: int
    name: str
    inference: int
    index: tuple[int, ...]
    board: int | float | None
    pc: int | float | None
    steps: float | None
    real: float | None
    limit: float | None
    unit: Unit
    path: str


@dataclass(frozen=True)
class AgreementRecord:
    """The verdict over ``count`` inferences, see ``reference.agreement.Agreement``, in ``text``.

    ``warnings`` say why it tells less than it seems. None stands for a distance that is not finite.
    """

    passed: bool
    text: str
    warnings: tuple[str, ...]
    count: int
    outputs: tuple[OutputRecord, ...]
    nearest: Mapping[str, int]
    distances: Mapping[str, float | None]
    distance_unit: Unit
    exact: bool
    exact_paths: tuple[str, ...]
    worst: WorstRecord | None
    failed_inferences: tuple[int, ...]
    share_beyond: float
    tolerance: str
    reference: str
    failed_paths: Mapping[str, str]


def agreement_record(agreement: Agreement) -> AgreementRecord:
    """The record of an agreement."""
    return recorded(
        agreement, AgreementRecord, text=describe(agreement), warnings=agreement.warnings
    )
