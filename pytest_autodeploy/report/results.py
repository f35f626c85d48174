"""The records of all tests, merged into one result per model and board, and their files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from pytest_autodeploy.base.files import write_bytes
from pytest_autodeploy.base.names import file_name
from pytest_autodeploy.board.use import added_up
from pytest_autodeploy.metrics.comparison import merge_comparisons
from pytest_autodeploy.metrics.record import TestRecord
from pytest_autodeploy.metrics.records.facts import BoardFacts, ModelFacts
from pytest_autodeploy.metrics.result import (
    OutcomeRecord,
    Provenance,
    Result,
    ResultFiles,
    RunFacts,
)
from pytest_autodeploy.metrics.result_parts import (
    ResultAgreement,
    ResultEnergy,
    ResultMeasurement,
    ResultVerdict,
)
from pytest_autodeploy.npu.layer_csv import layer_csv
from pytest_autodeploy.profile.layer_csv import csv_text
from pytest_autodeploy.profile.records import LayerProfile
from pytest_autodeploy.report.result_json import json_text

Key = tuple[str, str, str, str]
"""Ids of model and board, SHA-256 of the model, as two suites may use one id, and clock."""

Part = tuple[Key, str]
"""And the one of several boards of a type, empty where nothing tells them apart."""

Records = Sequence[TestRecord]
Facts = TypeVar("Facts", ModelFacts, BoardFacts)
T = TypeVar("T")
Whole = TypeVar("Whole")


class ResultStore:
    """Collects the record of each test; the results do not depend on the order of arrival."""

    def __init__(self) -> None:
        self._records: dict[tuple[Key, str], TestRecord] = {}

    def add(self, record: TestRecord) -> None:
        """Add the record of a test; a later one of the same test, as of a rerun, replaces it."""
        model, board = record.model, record.board
        clock = "LP" if board.clock == "LP" else ""
        key = (model.id, board.id or "", model.sha256 or "", clock)
        self._records[key, record.nodeid] = record

    def records(self) -> list[TestRecord]:
        """The records of all tests, by model, board and test id."""
        return [self._records[key] for key in sorted(self._records)]

    def results(self) -> list[Result]:
        """One merged result per model and board, sorted by their ids.

        Of each measurement, agreement and profile the last by test id counts, except that an
        agreement that failed is never hidden by one that passed.
        """
        by_key: dict[Key, list[TestRecord]] = {}
        for key, nodeid in sorted(self._records):
            by_key.setdefault(key, []).append(self._records[key, nodeid])
        parts = {(key, part): r for key, all_ in by_key.items() for part, r in by_board(all_)}
        folders = _folders(parts)
        return [_merge(records, folders[key]) for key, records in parts.items()]


def write_result(
    result: Result, output: Path, provenance: Provenance | None, run: RunFacts
) -> list[Path]:
    """Write CSV and JSON of a merged result below ``output`` and list them; raises ResultsError.

    ``provenance`` and ``run`` go into the JSON, beside the port of the result's board.
    """
    written = []
    if result.files.csv:
        written.append(output / result.files.csv)
        write_bytes(written[-1], _csv(result).encode())
    if result.files.first_csv and result.first_profile:
        written.append(output / result.files.first_csv)
        write_bytes(written[-1], _profile_csv(result, result.first_profile))
    own = replace(run, port=result.run.port, boards=result.run.boards)
    whole = replace(result, provenance=provenance, run=own)
    written.append(output / result.files.json)
    write_bytes(written[-1], json_text(whole).encode())
    return written


def result_folder(model_id: str, board_id: str, clock: str = "") -> str:
    """The folder of a model on a board below the results folder; ``clock`` is LP or nothing."""
    place = f"{board_id or 'no-board'}{clock and f'-{clock}'}"
    return f"{file_name(model_id or 'no-model')}/{file_name(place)}"


def by_board(records: Records) -> Iterator[tuple[str, Records]]:
    """The records of each board of a type, by what tells it apart; nearly always there is one.

    What never reached a board is with those of the last one.
    """
    known = [record.board.one or "" for record in records]
    names = [*dict.fromkeys(filter(None, known))]
    last = names[-1] if names else ""
    for name in names or [""]:
        pairs = zip(records, known, strict=True)
        yield name, [each for each, board in pairs if (board or last) == name]


def _folders(keys: Iterable[Part]) -> dict[Part, str]:
    folders: dict[Part, str] = {}
    taken: set[str] = set()
    for key in keys:
        model, board, _, clock = key[0]
        base = result_folder(model, board, clock)
        folder, number = base, 2
        while folder.lower() in taken:
            folder, number = f"{base}-{number}", number + 1
        taken.add(folder.lower())
        folders[key] = folder
    return folders


def csv_name(model: ModelFacts, suffix: str = "") -> str:
    """The file name of a model's CSV."""
    return f"{file_name(model.name or 'model')}{suffix}.csv"


def _csv(result: Result) -> str:
    """The layers of an estimate, else of the profile."""
    if result.npu:
        return layer_csv(result.npu)
    return csv_text(result.profile, result.board.recorded) if result.profile else ""


def _profile_csv(result: Result, profile: LayerProfile) -> bytes:
    return csv_text(profile, result.board.recorded).encode()


def _merge(records: Records, folder: str) -> Result:
    model = merged_facts([record.model for record in records])
    board = merged_facts([record.board for record in records])
    profile, npu = last(records, lambda r: r.profile), last(records, lambda r: r.npu)
    first = last(records, lambda r: r.first_profile)
    return Result(
        model=model,
        board=replace(board, port=None),
        tests=tuple(
            OutcomeRecord(
                record.nodeid,
                record.outcome,
                record.message,
                record.failure_class,
                record.attempts,
            )
            for record in records
        ),
        files=ResultFiles(
            json=f"{folder}/result.json",
            csv=f"{folder}/{csv_name(model)}" if profile or npu else None,
            characterization=last(records, lambda r: r.files.characterization),
            first_csv=f"{folder}/{csv_name(model, '_first')}" if first else None,
            npz=tuple(sorted({r.files.npz for r in records if r.files.npz})),
            changed=tuple(sorted({r.files.changed for r in records if r.files.changed})),
        ),
        run=RunFacts(port=board.port, boards=added_up(use for r in records for use in r.uses)),
        seed=last(records, lambda r: r.seed),
        state=last(records, lambda r: r.state),
        measurements=_measurements(records),
        agreement=_agreement(records),
        sensitivity=last(records, lambda r: r.sensitivity),
        accuracy=last(records, lambda r: r.accuracy),
        explanation=last(records, lambda r: r.explanation),
        profile=profile,
        first_profile=first,
        power=_power(records),
        comparison=merge_comparisons([r.comparison for r in records if r.comparison]),
        verdicts=tuple(
            ResultVerdict(**vars(verdict), test=record.nodeid)
            for record in records
            for verdict in record.verdicts
        ),
        artifacts=last(records, lambda r: r.artifacts),
        npu=npu,
    )


def last(wholes: Sequence[Whole], part: Callable[[Whole], T | None]) -> T | None:
    """A part of the last one that has it."""
    values = (part(whole) for whole in reversed(wholes))
    return next((value for value in values if value is not None), None)


def merged_facts(facts: Sequence[Facts]) -> Facts:
    """All that is known; of what differs, the last counts."""
    whole = facts[0]
    for some in facts[1:]:
        whole = replace(whole, **{k: v for k, v in vars(some).items() if v is not None})
    return whole


def _measurements(records: Records) -> tuple[ResultMeasurement, ...]:
    by_name = {
        item.name: ResultMeasurement(**vars(item), test=record.nodeid)
        for record in records
        for item in record.measurements
    }
    return tuple(by_name[name] for name in sorted(by_name))


def _power(records: Records) -> tuple[ResultEnergy, ...]:
    """The latest of each clock mode, without its waveform, which is for the test's own report."""
    by_mode = {
        energy.mode: ResultEnergy(**{**vars(energy), "waveform": None}, test=record.nodeid)
        for record in records
        for energy in record.power
    }
    return tuple(by_mode[mode] for mode in sorted(by_mode))


def _agreement(records: Records) -> ResultAgreement | None:
    agreements = [(r.agreement, r.nodeid) for r in records if r.agreement]
    failed = [each for each in agreements if not each[0].passed]
    if not agreements:
        return None
    agreement, nodeid = (failed or agreements)[-1]
    return ResultAgreement(**vars(agreement), test=nodeid)
