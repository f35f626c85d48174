"""The public names, for type checkers; `__init__.py` loads each when it is first asked for."""

from pytest_autodeploy.base.errors import (
    AutodeployError,
    BoardDied,
    BoardError,
    BoardRefused,
    BoardTimeout,
    BoardUnavailable,
    InputsError,
    LinkError,
    MissingExtra,
    ModelDoesNotFit,
    ModelError,
    ReferenceFailed,
    WrongFirmware,
)
from pytest_autodeploy.base.measurement import Source
from pytest_autodeploy.board.base import Board
from pytest_autodeploy.model.graph import Model, Operator, Tensor
from pytest_autodeploy.npu.errors import NpuEstimateFailed
from pytest_autodeploy.npu.results import Estimate
from pytest_autodeploy.power.errors import PowerError
from pytest_autodeploy.power.measure import PowerMeter
from pytest_autodeploy.profile.records import Layer, LayerProfile
from pytest_autodeploy.reference.inputs import Inputs
from pytest_autodeploy.reference.labels import Labels
from pytest_autodeploy.reference.runner import Reference
from pytest_autodeploy.session.energy import Energy
from pytest_autodeploy.session.labelled import LabelledRun
from pytest_autodeploy.session.measured import Latency, MemoryUse, RunResult, TunedArena
from pytest_autodeploy.session.model_session import ModelSession

__all__ = [
    "AutodeployError",
    "Board",
    "BoardDied",
    "BoardError",
    "BoardRefused",
    "BoardTimeout",
    "BoardUnavailable",
    "Energy",
    "Estimate",
    "Inputs",
    "InputsError",
    "LabelledRun",
    "Labels",
    "Latency",
    "Layer",
    "LayerProfile",
    "LinkError",
    "MemoryUse",
    "MissingExtra",
    "Model",
    "ModelDoesNotFit",
    "ModelError",
    "ModelSession",
    "NpuEstimateFailed",
    "Operator",
    "PowerError",
    "PowerMeter",
    "Reference",
    "ReferenceFailed",
    "RunResult",
    "Source",
    "Tensor",
    "TunedArena",
    "WrongFirmware",
]
