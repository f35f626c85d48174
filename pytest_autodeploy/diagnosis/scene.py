"""What a comparison operator by operator needs, and what it comes to."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pytest_autodeploy.base.kernel_paths import TFLM_PATH
from pytest_autodeploy.diagnosis.cause import Method
from pytest_autodeploy.diagnosis.chosen import Chosen
from pytest_autodeploy.diagnosis.layers import Layer, apart_text, compare_layers
from pytest_autodeploy.diagnosis.pc import PcSides

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_autodeploy.model.graph import Model
    from pytest_autodeploy.session.model_session import ModelSession

    Values = Mapping[int, NDArray[Any]]


@dataclass(frozen=True)
class Scene:
    """The board and the PC on the chosen inferences, until ``until`` (of ``time.monotonic``).

    ``sides``: those of the PC of which a right operator has to agree with one; the first is the one
    whose values are shown. ``exact``: there is one, and it runs the very kernels of the board.
    """

    session: ModelSession
    chosen: Chosen
    pc: PcSides
    sides: tuple[str, ...]
    exact: bool
    until: float

    @property
    def model(self) -> Model:
        """The model on the board."""
        return self.session.model

    @property
    def inputs(self) -> dict[int, NDArray[Any]]:
        """The model's inputs in the inference that is compared, by tensor index."""
        arrays = self.chosen.focus.arrays
        return {t.index: a[-1:] for t, a in zip(self.model.inputs, arrays, strict=True)}

    def compared(self, board: Values) -> tuple[Layer, ...]:
        """The board's values held against the PC's. Raises ReferenceFailed and ModelError."""
        whole = self.pc.tensors(self.sides[0], self.chosen.focus)
        alone = self.pc.alone(self.sides, {**self.inputs, **board})
        return compare_layers(self.model, board, whole, alone, exact=self.exact)

    @property
    def over(self) -> bool:
        """Whether the time is over."""
        return time.monotonic() > self.until


@dataclass(frozen=True)
class Findings:
    """The ``layers`` of the sides ``left`` and ``right``, and what they tell.

    ``operator``: where the difference starts, None when that is not known; ``where`` says it in
    words. ``board_is_wrong``: whether an operator, or what happens around them, is wrong on the
    board; None when the comparison does not tell. ``elsewhere``: it is not in an operator.
    ``board_runs``: how often the board ran a part of the model.
    """

    layers: tuple[Layer, ...] = ()
    operator: Layer | None = None
    where: str = ""
    left: str = "board"
    right: str = ""
    method: Method = ""
    board_runs: int = 0
    board_is_wrong: bool | None = None
    elsewhere: Literal["input", "output", "memory", ""] = ""
    problems: tuple[str, ...] = ()


def side_name(side: str) -> str:
    """A side of the PC as a sentence says it."""
    return "TFLM" if side == TFLM_PATH else side


def adds_text(layer: Layer) -> str:
    """What an operator adds, such as ``adds 64 steps in 12 of 4096 elements``."""
    if layer.adds is None:
        return "adds an unknown amount"
    share = f"{layer.elements} of {layer.of_elements} elements"
    return f"adds {apart_text(layer.adds, layer.unit)} in {share}"
