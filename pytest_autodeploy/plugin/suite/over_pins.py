"""The built-in tests of boards without RPC, by the names of those that owe the same limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_autodeploy.plugin.suite.builtin import test_artifacts_from, test_npu_estimate

if TYPE_CHECKING:
    from pytest_autodeploy.board.base import Board
    from pytest_autodeploy.model.graph import Model
    from pytest_autodeploy.plugin.over_pins import PinsTest

__all__ = ["test_artifacts_from", "test_energy", "test_latency", "test_npu_estimate"]


def test_energy(
    tflite_model: Model, _autodeploy_artifact_board: Board, _autodeploy_over_pins: PinsTest
) -> None:
    """Energy and power over pins are within the limits of ``--tflite-energy-limit`` and others."""
    _autodeploy_over_pins.measure(tflite_model, _autodeploy_artifact_board, every_mode=True)


def test_latency(
    tflite_model: Model, _autodeploy_artifact_board: Board, _autodeploy_over_pins: PinsTest
) -> None:
    """One inference takes no longer than ``--tflite-latency-budget``, by the meter's samples."""
    _autodeploy_over_pins.measure(tflite_model, _autodeploy_artifact_board, every_mode=False)
