"""A session on the simulated board's times alone: no process, no TFLM, so that many runs are quick.

Sessions, modelled times, noise and comparisons are the real ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast
from unittest.mock import patch

from pytest_autodeploy.catalog.boards import board_spec
from pytest_autodeploy.limits.declarations import REGRESSION
from pytest_autodeploy.limits.declared import Declared, declare
from pytest_autodeploy.metrics.judgement import Judgement, judge
from pytest_autodeploy.metrics.record import TestRecord
from pytest_autodeploy.metrics.record_parts import with_session
from pytest_autodeploy.metrics.records.facts import model_facts
from pytest_autodeploy.metrics.subject import Baselines, Subject
from pytest_autodeploy.model.graph import Model
from pytest_autodeploy.model.load import load_model
from pytest_autodeploy.reference.inputs import random_inputs
from pytest_autodeploy.rpc.messages import ClockMode, Identity, InvokeTiming, LayerRecord
from pytest_autodeploy.run.metrics import metrics
from pytest_autodeploy.session.model_session import ModelSession
from pytest_autodeploy.sim.kernels import Kernels
from pytest_autodeploy.sim.noise import TimingNoise
from pytest_autodeploy.sim.stopwatch import Stopwatch
from pytest_autodeploy.sim.validator import SimulatedValidator
from tests.helpers.support import DIGITS

MODEL = load_model(DIGITS)
INPUTS = random_inputs(MODEL, 1, 42)


class NoEngine:
    """Stands in for TFLM: runs nothing."""

    arena_used_bytes = 4000
    inputs = outputs = ()
    has_run = False

    executions: Mapping[int, int] = {}

    def __init__(self, model: Model, *_args: object, **_kwargs: object) -> None:
        self.model = model

    def run(self, _count: int) -> None:
        """Only note that there was an inference."""
        self.has_run = True


class Client:
    """The host's view of a validator in this process."""

    sent_again = 0

    def __init__(self, validator: SimulatedValidator) -> None:
        self._validator = validator

    def __getattr__(self, name: str) -> Any:
        return getattr(self._validator, name)

    timeout_s = 10.0

    def invoke(self, count: int, _timeout_s: float | None = None) -> InvokeTiming:
        """In this process there is nothing to wait for."""
        return self._validator.invoke(count)

    def write_input(self, index: int, data: bytes) -> None:
        """The times do not depend on it."""

    def read_layers(self) -> list[LayerRecord]:
        """All layers of the latest profile."""
        return list(self._validator.read_layers(0, 1000)[1])


class Board:
    """A board around the validator."""

    id = "sim:apollo4p_evb"
    port = None

    def __init__(self, validator: SimulatedValidator) -> None:
        self.client = Client(validator)

    def load(self, _image: object) -> Identity:
        """It has been flashed before."""
        return self.client._validator.identify()

    def discard(self) -> None:
        """It goes on in this process."""


@contextmanager
def without_tflm() -> Iterator[None]:
    """Sessions made within need no TFLM."""
    with patch("pytest_autodeploy.sim.kernels.Engine", NoEngine):
        yield


def session(noise: TimingNoise, clock: ClockMode = ClockMode.HIGH_PERFORMANCE) -> ModelSession:
    """A session of the digits model on a board with noise, with what a test measures."""
    spec = board_spec("apollo4p_evb")
    kernels, stopwatch = Kernels(cast(Any, None)), Stopwatch(spec.core, noise)
    validator = SimulatedValidator(spec, kernels, stopwatch)
    validator.flash(DIGITS)
    made = ModelSession(MODEL, cast(Any, Board(validator)), inputs=INPUTS)
    made.prepare(INPUTS, clock="HP" if clock else "LP")
    made.ensure()
    return made


@dataclass(frozen=True)
class Gate:
    """A declared limit, and where its baseline is."""

    declared: Declared
    place: Baselines


def gate(
    folder: Path,
    declared: Declared | None = None,
    update: str | None = None,
    *,
    asked: bool = True,
    **starts: Any,
) -> Gate:
    """What a test with the marker ``no_regression`` is held against."""
    place = Baselines(folder, folder, "digits_cnn", "digits_cnn.tflite", asked, update)
    place = replace(place, **starts)
    return Gate(declared or declare(REGRESSION), place)


def subject(measured: ModelSession, by: Gate) -> Subject:
    """What is judged; the PC side is not asked for."""
    return Subject(cast(Any, None), measured, baselines=by.place)


def measure(measured: ModelSession, by: Gate) -> None:
    """Measure what the comparison needs."""
    metrics()[REGRESSION.name].measure(subject(measured, by), by.declared)


def judged(measured: ModelSession, by: Gate) -> Judgement:
    """Measure and judge, as after the body of a test."""
    only = {REGRESSION.name: metrics()[REGRESSION.name]}
    return judge(subject(measured, by), [by.declared], only, lambda _declared: True)


def record(measured: ModelSession) -> TestRecord:
    """The record of a passed test."""
    facts = model_facts("digits_cnn", MODEL, "digits_cnn.tflite")
    whole = subject(measured, gate(Path("unused")))
    found = [each for metric in metrics().values() for each in metric.measurements(whole)]
    return with_session(TestRecord("test_it.py::test_it", "passed", "", facts), whole, None, found)
