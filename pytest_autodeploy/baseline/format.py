"""What a baseline file holds: metrics and layers of one model on one board type, per clock mode."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from pytest_autodeploy.base.measurement import Measurement
from pytest_autodeploy.base.repeats import Repeats
from pytest_autodeploy.limits.regression import NoRegression
from pytest_autodeploy.metrics.records.facts import BoardFacts
from pytest_autodeploy.profile.records import LayerProfile

SCHEMA = 2
"""Version of the file format."""


@dataclass(frozen=True)
class Metric:
    """A value and its ``spread``: the standard deviation of ``repeats``, None of a single one.

    ``outliers`` of these are left out of it, and of ``centre``, their mean, which is compared; None
    where it is the value itself. They are of so many ``starts`` of the board, whose means have the
    standard deviation ``start_spread``; ``memory`` is how much each is like the one before it, see
    ``Repeats``. ``update`` says of which run it is, see ``Entry``.
    """

    value: float
    unit: str
    better: str
    source: str
    spread: float | None = None
    repeats: int = 1
    update: int = 1
    centre: float | None = None
    outliers: int = 0
    starts: int = 1
    start_spread: float | None = None
    memory: float = 0.0

    @property
    def repeated(self) -> Repeats:
        """What its repeats say together."""
        return Repeats(
            centre=self.value if self.centre is None else self.centre,
            spread=self.spread,
            count=self.repeats,
            outliers=self.outliers,
            starts=self.starts,
            start_spread=self.start_spread,
            memory=self.memory,
        )


@dataclass(frozen=True)
class LayerTime:
    """One layer in running order: microseconds, the deviation of their repeats, MACs if known."""

    operator: str
    us: float
    spread_us: float | None = None
    macs: int | None = None


@dataclass(frozen=True)
class Layers:
    """All layers of an inference, the ``first`` or a ``warm`` one; medians of ``repeats``."""

    run: str
    source: str
    layers: tuple[LayerTime, ...]
    repeats: int = 1
    update: int = 1


@dataclass(frozen=True)
class Conditions:
    """What must be the same for two values to be compared."""

    board: str
    kind: str
    core: str
    source: str
    engine: str
    clock: str
    clock_hz: int
    memories: str = ""
    """Of the model and the arena; empty where they are not known."""


@dataclass(frozen=True)
class Entry:
    """What was measured in one clock mode; ``provenance`` is shown, never compared.

    It is of one run, whose values have ``update`` 1, until a run updates a part of it: the values
    of that run have the next number. All are of one model, engine and firmware.
    """

    conditions: Conditions
    metrics: Mapping[str, Metric]
    layers: Layers | None = None
    provenance: Mapping[str, str] = field(default_factory=dict)

    @property
    def model_sha256(self) -> str:
        """Hash of the model that was measured."""
        return self.provenance.get("model_sha256", "")

    @property
    def updates(self) -> Mapping[str, int]:
        """The ``update`` of each metric, and of ``layers`` if there are some."""
        of_layers = {"layers": self.layers.update} if self.layers else {}
        return {name: metric.update for name, metric in self.metrics.items()} | of_layers

    def same_program(self, other: Entry) -> bool:
        """Whether both ran the same model, engine and firmware under the same conditions."""
        names = ("model_sha256", "engine_version", "build_id")
        return self.conditions == other.conditions and all(
            self.provenance.get(name) == other.provenance.get(name) for name in names
        )


@dataclass(frozen=True)
class Baseline:
    """The content of one file; ``file`` is the model's, relative to the root folder.

    ``schema`` is the version of the format that it was read from.
    """

    model: str
    file: str
    entries: Mapping[str, Entry]
    """By clock mode."""

    schema: int = SCHEMA


def entry_of(
    model_sha256: str | None,
    board: BoardFacts,
    measurements: Iterable[Measurement],
    profile: LayerProfile | None,
    limit: NoRegression,
    plugin_version: str = "",
) -> Entry:
    """The entry of a model on a board that said what it is, from what was measured.

    Of the measurements those are kept that ``limit`` has a group for.
    """
    provenance = {
        "build_id": board.build_id,
        "engine_version": board.engine_version,
        "model_sha256": model_sha256,
        "plugin_version": plugin_version,
    }
    return Entry(
        Conditions(
            board=board.name or "",
            kind=board.kind or "",
            core=board.core or "",
            source=board.source or "",
            engine=board.engine or "",
            clock=board.clock or "",
            clock_hz=int(board.clock_hz or 0),
            memories=" and ".join(filter(None, (board.model_memory, board.arena_memory))),
        ),
        {item.name: _metric(item) for item in measurements if _is_kept(item, limit)},
        _layers(profile) if profile else None,
        {name: value for name, value in provenance.items() if value},
    )


def _is_kept(item: Measurement, limit: NoRegression) -> bool:
    return limit.group_of(item.name) is not None and math.isfinite(item.value)


def _metric(item: Measurement) -> Metric:
    value, repeated = plain_number(item.value), item.repeated
    metric = Metric(
        value=value,
        unit=item.unit,
        better=item.better,
        source=item.source,
        spread=_optional(item.spread),
        repeats=item.repeats if item.spread is not None else 1,
    )
    if repeated is None or metric.spread is None:
        return metric
    centre = plain_number(repeated.centre)
    return replace(
        metric,
        centre=None if centre == value else centre,
        outliers=repeated.outliers,
        starts=repeated.starts,
        start_spread=_optional(repeated.start_spread),
        memory=plain_number(repeated.memory),
    )


def _layers(profile: LayerProfile) -> Layers:
    layers = tuple(
        LayerTime(
            operator=layer.tag,
            us=plain_number(layer.us),
            spread_us=_optional(layer.spread_us),
            macs=layer.macs,
        )
        for layer in profile.layers
    )
    return Layers(profile.run, profile.source, layers, profile.repeats)


def _optional(value: float | None) -> float | None:
    return None if value is None else plain_number(value)


def plain_number(value: float) -> float:
    """A value as a file keeps it: whole numbers exactly, others to nine digits."""
    return int(value) if value == int(value) else float(f"{value:.9g}")
