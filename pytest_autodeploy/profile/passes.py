"""Which counters of a board a profile has; more events than fit at once take several passes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from pytest_autodeploy.base.errors import BoardError, BoardRefused
from pytest_autodeploy.catalog.pmu import EVENTS
from pytest_autodeploy.rpc.messages import LayerRecord

if TYPE_CHECKING:
    from pytest_autodeploy.rpc.client import ValidatorClient

Records = Sequence[LayerRecord]
Record = Callable[[int], Sequence[Records]]

MODULO = " mod 256"
"""How the names of counters end that wrap within a layer."""

HINT = "Leave --evb-counters out, or choose events that the board counts."


@dataclasses.dataclass(frozen=True)
class CounterChoice:
    """What is counted per layer: ``events``, or the board's own counters when there are none.

    ``modulo`` says whether counters that wrap within a layer are kept.
    """

    events: tuple[str, ...] = ()
    modulo: bool = False

    def record(
        self, client: ValidatorClient, record: Record, repeats: int, own: Sequence[str]
    ) -> tuple[list[Records], tuple[str, ...]]:
        """The records of ``repeats`` inferences, and the names of their counters.

        ``record(n)`` runs and records n inferences; ``own`` are the names of the board's counters.
        """
        if self.events:
            return record_events(client, self.events, record, repeats), self.events
        kept = [n for n, name in enumerate(own) if self.modulo or not name.endswith(MODULO)]
        inferences = [[_only(layer, kept) for layer in layers] for layers in record(repeats)]
        return list(inferences), tuple(own[n] for n in kept)


def record_events(
    client: ValidatorClient,
    events: Sequence[str],
    record: Record,
    repeats: int,
) -> list[Records]:
    """The records of ``repeats`` inferences; the last one's counters are those of all ``events``.

    ``record(n)`` runs and records n inferences. Their ticks are those of the first pass, and each
    later pass runs one inference. Raises BoardRefused when the board cannot count an event, and
    BoardError when its passes do not have the same layers.
    """
    try:
        at_once = max(1, client.select_counters())
        inferences: list[Records] = []
        for start in range(0, len(events), at_once):
            batch = events[start : start + at_once]
            client.select_counters([EVENTS[name] for name in batch])
            recorded = record(1 if inferences else repeats)
            _check(recorded[-1], batch, inferences, client.board)
            inferences = _join(inferences, recorded)
        return inferences
    except BoardRefused as error:
        error.hint = error.hint or HINT
        raise
    finally:
        with suppress(BoardError):
            client.select_counters()


def _only(layer: LayerRecord, kept: Sequence[int]) -> LayerRecord:
    counters = tuple(layer.counters[n] for n in kept if n < len(layer.counters))
    return dataclasses.replace(layer, counters=counters)


def _join(inferences: list[Records], recorded: Sequence[Records]) -> list[Records]:
    if not inferences:
        return list(recorded)
    pairs = zip(inferences[-1], recorded[-1], strict=True)
    last = [dataclasses.replace(a, counters=a.counters + b.counters) for a, b in pairs]
    return [*inferences[:-1], last]


def _check(records: Records, batch: Sequence[str], inferences: list[Records], board: str) -> None:
    if any(len(record.counters) != len(batch) for record in records):
        raise BoardError(
            f"profile: the layers do not have {len(batch)} counters",
            board=board,
            hint="leave --evb-counters out, or choose events that its core has",
        )
    if not inferences:
        return
    first, tags = ([record.tag for record in layers] for layers in (inferences[-1], records))
    if first != tags:
        number = next((n for n, (a, b) in enumerate(zip(first, tags, strict=False)) if a != b), -1)
        at = f": layer {number} is {tags[number]}, not {first[number]}" if number >= 0 else ""
        raise BoardError(
            f"profile: {len(tags)} layers ran in a later pass, {len(first)} in the first{at}",
            board=board,
            hint="The model takes another way in each run: ask for as many events as fit at once.",
        )
