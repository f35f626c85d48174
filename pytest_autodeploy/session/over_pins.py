"""A model on a board without RPC: nothing is known of it but what a power meter saw."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_autodeploy.catalog.boards import BoardSpec
    from pytest_autodeploy.catalog.fit import Placement
    from pytest_autodeploy.limits.energy import Mode
    from pytest_autodeploy.model.graph import Model
    from pytest_autodeploy.session.energy import Energy


@dataclass
class PinsRun:
    """What was measured of the power application of ``model``, by clock mode.

    ``placement`` is where its image has the model and the arena; ``clock`` is the run's own mode.
    """

    model: Model
    board_id: str
    spec: BoardSpec
    placement: Placement
    clock: Mode
    energies: dict[Mode, Energy] = field(default_factory=dict)

    @property
    def main(self) -> Energy | None:
        """The energy in the run's own clock mode, None when that was not measured."""
        return self.energies.get(self.clock)
