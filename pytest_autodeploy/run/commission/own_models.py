"""The models of this package that boards are commissioned with, and what the PC makes of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_autodeploy.base.kernel_paths import TFLM_PATH
from pytest_autodeploy.base.resources import resource
from pytest_autodeploy.model.load import load_model
from pytest_autodeploy.reference.inputs import Inputs, random_inputs
from pytest_autodeploy.reference.runner import Reference

if TYPE_CHECKING:
    from pytest_autodeploy.model.graph import Model

CNN, DENSE, SVDF, ECHO = "digits_cnn", "float_dense", "int8_svdf", "echo"
_FOLDERS = {CNN: "models", DENSE: "commission", SVDF: "commission", ECHO: "commission"}

SAMPLES = 5
"""Inputs of each model."""


class OwnModels:
    """Loads each model once; ``seed`` is that of their inputs."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._loaded: dict[str, Model] = {}
        self._expected: dict[str, tuple[Any, ...]] = {}

    def model(self, name: str) -> Model:
        """A model of this package."""
        if name not in self._loaded:
            path = resource("examples", _FOLDERS[name], f"{name}.tflite")
            self._loaded[name] = load_model(path)
        return self._loaded[name]

    def inputs(self, name: str) -> Inputs:
        """The inputs that a model is run on: random ones, always the same."""
        return random_inputs(self.model(name), SAMPLES, self._seed)

    def expected(self, name: str) -> tuple[Any, ...]:
        """What TFLM on this PC makes of the inputs of a model. Raises MissingExtra."""
        if name not in self._expected:
            with Reference(self.model(name), paths=(TFLM_PATH,)) as reference:
                self._expected[name] = reference.run(self.inputs(name))[TFLM_PATH]
        return self._expected[name]
