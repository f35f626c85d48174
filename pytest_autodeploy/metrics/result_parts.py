"""What a result takes from one of its tests, with the id of that test."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_autodeploy.base.measurement import Measurement
from pytest_autodeploy.metrics.ledger import Row
from pytest_autodeploy.metrics.records.agreement import AgreementRecord
from pytest_autodeploy.metrics.records.energy import EnergyRecord


@dataclass(frozen=True, kw_only=True)
class ResultMeasurement(Measurement):
    """A measurement, and the id of the test that made it."""

    test: str


@dataclass(frozen=True, kw_only=True)
class ResultVerdict(Row):
    """A verdict, and the id of the test that it is of."""

    test: str


@dataclass(frozen=True, kw_only=True)
class ResultAgreement(AgreementRecord):
    """An agreement, and the id of the test that it is of."""

    test: str


@dataclass(frozen=True, kw_only=True)
class ResultEnergy(EnergyRecord):
    """An energy without its waveform, and the id of the test that measured it."""

    test: str
