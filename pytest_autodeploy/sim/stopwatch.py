"""How long the simulated board says that things take: modelled cycles, and noise on them."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from pytest_autodeploy.rpc.messages import LayerRecord
from pytest_autodeploy.sim.counters import counted
from pytest_autodeploy.sim.noise import TimingNoise
from pytest_autodeploy.sim.timing import main_cycles

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_autodeploy.catalog.boards import Core
    from pytest_autodeploy.sim.engine import Engine


class Stopwatch:
    """The times of a core; ``noise`` changes those that are reported.

    Ticks are modelled core cycles. TFLM on a PC gives no time per layer, so a layer's time is a
    property of its operator, and the first inference takes what the others take.
    """

    def __init__(self, core: Core, noise: TimingNoise | None = None) -> None:
        self._core = core
        self._noise = noise or TimingNoise()
        self.layers: tuple[LayerRecord, ...] = ()

    def restart(self) -> None:
        """The board has started anew."""
        self._noise.restart()

    def forget(self) -> None:
        """There is no model."""
        self.layers = ()

    def observe(self, engine: Engine) -> None:
        """Take the time of the layers: of loops and branches what the last run did."""
        cycles = main_cycles(engine.model, self._core, engine.executions)
        names = (op.name for op in engine.model.operators if op.subgraph == 0)
        self.layers = tuple(
            LayerRecord(name, ticks, ()) for name, ticks in zip(names, cycles, strict=True)
        )

    def inferences(self, count: int) -> tuple[int, ...]:
        """The ticks of each of so many inferences."""
        nominal = sum(layer.ticks for layer in self.layers)
        return tuple(self._noise.of(nominal) for _ in range(count))

    def profile(self, events: Sequence[int]) -> tuple[LayerRecord, ...]:
        """The layers of one inference, with what they count."""
        return tuple(self._record(layer, events) for layer in self.layers)

    def _record(self, layer: LayerRecord, events: Sequence[int]) -> LayerRecord:
        ticks = self._noise.of(layer.ticks)
        return dataclasses.replace(layer, ticks=ticks, counters=counted(events, ticks))
