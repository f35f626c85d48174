"""What a comparison operator by operator came to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pytest_autodeploy.diverge.layers import Layer

Method = Literal["kept tensors", "cut models", "the PC alone", ""]
"""How: on the board by reading kept tensors, or by running the first operators as a model; or
between two sides of the PC."""


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
