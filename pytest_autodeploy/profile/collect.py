"""From the layer records of a board to the profile of a model."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pytest_autodeploy.base.errors import WrongFirmware
from pytest_autodeploy.base.measurement import Source
from pytest_autodeploy.base.repeats import summarize
from pytest_autodeploy.profile.records import Layer, LayerProfile, Run

CYCLES = "cycles"
"""The counter of firmware whose ticks are not the core's cycles."""

if TYPE_CHECKING:
    from pytest_autodeploy.model.graph import Model
    from pytest_autodeploy.rpc.messages import Identity, LayerRecord


def collect_profile(
    inferences: Sequence[Sequence[LayerRecord]],
    model: Model,
    identity: Identity,
    *,
    counters: Sequence[str],
    run: Run,
    source: Source,
) -> LayerProfile:
    """One profile of the records of one or more inferences; ``counters`` names those of a record.

    Times are the median of the inferences (the lower one of two), counters those of the last. A
    counter named ``cycles`` gives the cycles of layers, unless it stood still.
    Raises WrongFirmware when the records are not one for each operator that the board has run.
    """
    records = inferences[-1]
    _check_count(model, len(records))
    counted = [record.counters[counters.index(CYCLES)] for record in records if CYCLES in counters]
    others = [number for number, name in enumerate(counters) if name != CYCLES]
    repeated = [[record.ticks for record in layer] for layer in zip(*inferences, strict=True)]
    times = [statistics.median_low(ticks) for ticks in repeated]
    hz = identity.tick_hz
    ticks_are_cycles = (
        identity.tick_hz == identity.clocks_hz[identity.clock]
        and source != "emulated"  # such ticks count instructions
    )
    macs = _macs_by_layer(model, [record.tag for record in records])
    layers = tuple(
        Layer(
            index=index,
            tag=record.tag,
            us=times[index] * 1e6 / hz,
            macs=macs[index],
            cycles=times[index] if ticks_are_cycles else counted[index] if any(counted) else None,
            counters=tuple(record.counters[number] for number in others),
            spread_us=_deviation_us(repeated[index], hz),
        )
        for index, record in enumerate(records)
    )
    names = tuple(counters[number] for number in others)
    return LayerProfile(layers, run, names, source, len(inferences))


def _check_count(model: Model, records: int) -> None:
    """A layer that is not told would make the others look like the whole.

    Control flow runs other subgraphs as often as it likes, so that nobody knows their number.
    """
    if model.subgraphs == 1 and records != len(model.operators):
        raise WrongFirmware(
            f"its profile has {records} layers, the model {len(model.operators)} operators",
            hint="Flash the board anew; when it stays so, build its runtime with another version.",
        )


def _deviation_us(ticks: Sequence[int], hz: int) -> float | None:
    """The standard deviation without outliers, which do not move the median either."""
    spread = summarize(ticks).spread
    return None if spread is None else spread * 1e6 / hz


def _macs_by_layer(model: Model, tags: Sequence[str]) -> list[int | None]:
    """MACs per record: the operators of the main graph in order, when the board ran just those."""
    main = [operator for operator in model.operators if operator.subgraph == 0]
    if [operator.name for operator in main] == list(tags):
        return [operator.macs for operator in main]
    return [None] * len(tags)
