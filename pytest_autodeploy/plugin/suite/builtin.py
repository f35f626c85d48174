"""The built-in tests: each measures one thing; the plugin judges it when a limit is set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_autodeploy.board.base import Board
    from pytest_autodeploy.model.graph import Model
    from pytest_autodeploy.npu.results import Estimate
    from pytest_autodeploy.plugin.artifacts import Artifacts
    from pytest_autodeploy.power.measure import PowerMeter
    from pytest_autodeploy.session.model_session import ModelSession


def test_model_fits(model_session: ModelSession) -> None:
    """The model and its arena fit the board's memories, and ``--tflite-memory-limit``."""
    model_session.memory()
    if not model_session.unproven:  # its arena is built in
        model_session.tune_arena()


def test_outputs_agree(model_session: ModelSession) -> None:
    """The board computes what the PC computes, within ``--tflite-tolerance``."""
    model_session.run()


def test_accuracy(model_session: ModelSession, model_labels: Any) -> None:
    """On labelled inputs the model is as accurate as ``--tflite-accuracy`` demands."""
    model_session.accuracy(model_labels)


def test_latency(model_session: ModelSession) -> None:
    """One inference takes no longer than ``--tflite-latency-budget``."""
    model_session.latency()


def test_layer_profile(model_session: ModelSession) -> None:
    """Every layer is profiled, in the inferences that ``--tflite-profile`` names."""
    model_session.profiles()


def test_energy(model_session: ModelSession, power_meter: PowerMeter) -> None:
    """Energy and power are within ``--tflite-energy-limit`` and ``--tflite-power-limit``."""
    for mode in power_meter.choose_modes(model_session):
        power_meter.measure(model_session, mode)


def test_npu_estimate(npu_estimate: Estimate) -> None:
    """Vela's estimate on each ``--tflite-npu`` accelerator is within ``--tflite-npu-budget``."""


def test_artifacts(model_session: ModelSession, autodeploy_artifacts: Artifacts) -> None:
    """``--autodeploy-artifacts`` are made when the outputs agree; their example finds that, too."""
    autodeploy_artifacts.make(model_session)


def test_artifacts_from(
    tflite_model: Model, _autodeploy_artifact_board: Board, autodeploy_artifacts: Artifacts
) -> None:
    """The artifacts are made from the characterisation of ``--autodeploy-from``."""
    autodeploy_artifacts.make_from_files(tflite_model, _autodeploy_artifact_board)
