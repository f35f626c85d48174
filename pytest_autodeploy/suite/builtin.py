"""The built-in tests: each measures one thing; the plugin judges it when a limit is set."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_autodeploy.npu.results import Estimate
    from pytest_autodeploy.power.measure import PowerMeter
    from pytest_autodeploy.session import ModelSession


def test_model_fits(model_session: ModelSession) -> None:
    """The model and its arena fit the board's memories, and ``--tflite-memory-limit``."""
    model_session.memory()
    model_session.tune_arena()


def test_outputs_agree(model_session: ModelSession) -> None:
    """The board computes what the PC computes, within ``--tflite-tolerance``."""
    model_session.run()


def test_latency(model_session: ModelSession) -> None:
    """One inference takes no longer than ``--tflite-latency-budget``."""
    model_session.latency()


def test_layer_profile(model_session: ModelSession) -> None:
    """Every layer is profiled: time, cycles and counters."""
    model_session.profile()


def test_energy(model_session: ModelSession, power_meter: PowerMeter) -> None:
    """Energy and power are within ``--tflite-energy-limit`` and ``--tflite-power-limit``."""
    for mode in power_meter.modes(model_session):
        power_meter.measure(model_session, mode)


def test_npu_estimate(npu_estimate: Estimate) -> None:
    """Vela's estimate on each ``--tflite-npu`` accelerator is within ``--tflite-npu-budget``."""
