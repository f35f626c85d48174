"""The results of several runs as those of one: shards of a suite, on one host or on many."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from pytest_autodeploy.base.errors import ResultsError
from pytest_autodeploy.metrics.comparison import merge_comparisons
from pytest_autodeploy.metrics.result import Result, ResultFiles
from pytest_autodeploy.metrics.result_parts import ResultAgreement, ResultVerdict
from pytest_autodeploy.report.result_json import parse_result
from pytest_autodeploy.report.results import last, merged_facts

MOST_BYTES = 64 << 20
"""Of a result file: one of ours is a few hundred kilobytes."""

JUDGED = ("pass", "FAIL")


@dataclass(frozen=True)
class Shard:
    """The results below the folder of one run."""

    folder: Path
    results: tuple[Result, ...]


@dataclass(frozen=True)
class Merged:
    """What all shards together say.

    ``unjudged`` are limits that a test owed and no test of any shard judged, ``repeated`` tests
    that ran in more than one shard, with these.
    """

    shards: tuple[Shard, ...]
    results: tuple[Result, ...]
    unjudged: tuple[ResultVerdict, ...]
    repeated: tuple[str, ...]

    @property
    def red(self) -> list[str]:
        """What is told of each limit that nothing judged."""
        return [f"{row.test}: {row.limit} by {row.origin} was not judged" for row in self.unjudged]


def read_shard(folder: Path) -> Shard:
    """All results below a folder, such as ``autodeploy-results``. Raises ResultsError."""
    found = sorted(folder.glob("**/result.json"))
    if not found:
        raise ResultsError(
            f"{folder} has no result.json in it",
            hint="give the results folder of each run, autodeploy-results unless it was chosen",
        )
    return Shard(folder, tuple(map(_read, found)))


def _read(path: Path) -> Result:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ResultsError(f"{path} has more than {MOST_BYTES >> 20} MB: it is no result")
        text = path.read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        raise ResultsError(f"cannot read {path}: {error}") from None
    return parse_result(text, str(path))


def merge(shards: Sequence[Shard], out: Path) -> Merged:
    """The results of a model on one board (by its serial number) at a clock become one.

    Links to files are as from ``out``.
    """
    groups: dict[tuple[str, ...], list[tuple[Shard, Result]]] = defaultdict(list)
    for shard in shards:
        for result in shard.results:
            moved = replace(result, files=_moved(result.files, shard.folder, out))
            groups[_key(result)].append((shard, moved))
    merged = [_one([result for _, result in group]) for _, group in sorted(groups.items())]
    return Merged(
        tuple(shards),
        tuple(merged),
        tuple(row for result in merged for row in _unjudged(result)),
        tuple(line for group in groups.values() for line in _repeated(group)),
    )


def _key(result: Result) -> tuple[str, ...]:
    model, board = result.model, result.board
    parts = (model.id, model.sha256, board.id, board.one, board.clock == "LP" and "LP")
    return tuple(part or "" for part in parts)


def _one(results: Sequence[Result]) -> Result:
    """Of each measurement, agreement and profile the last counts, a failed agreement always."""
    if len(results) == 1:
        return results[0]
    measurements = {each.name: each for result in results for each in result.measurements}
    power = {each.mode: each for result in results for each in result.power}
    return replace(
        results[-1],
        model=merged_facts([result.model for result in results]),
        board=merged_facts([result.board for result in results]),
        tests=tuple(test for result in results for test in result.tests),
        files=_files([result.files for result in results]),
        seed=last(results, lambda result: result.seed),
        state=last(results, lambda result: result.state),
        measurements=tuple(measurements[name] for name in sorted(measurements)),
        agreement=_agreement(results),
        sensitivity=last(results, lambda result: result.sensitivity),
        accuracy=last(results, lambda result: result.accuracy),
        explanation=last(results, lambda result: result.explanation),
        profile=last(results, lambda result: result.profile),
        first_profile=last(results, lambda result: result.first_profile),
        power=tuple(power[mode] for mode in sorted(power)),
        comparison=merge_comparisons([each.comparison for each in results if each.comparison]),
        verdicts=tuple(row for result in results for row in result.verdicts),
        artifacts=last(results, lambda result: result.artifacts),
        npu=last(results, lambda result: result.npu),
    )


def _agreement(results: Sequence[Result]) -> ResultAgreement | None:
    agreements = [result.agreement for result in results if result.agreement]
    failed = [agreement for agreement in agreements if not agreement.passed]
    return next(reversed(failed or agreements), None)


def _files(files: Sequence[ResultFiles]) -> ResultFiles:
    return replace(
        files[-1],
        csv=last(files, lambda each: each.csv),
        first_csv=last(files, lambda each: each.first_csv),
        characterization=last(files, lambda each: each.characterization),
        npz=tuple(path for each in files for path in each.npz),
        changed=tuple(path for each in files for path in each.changed),
    )


def _moved(files: ResultFiles, folder: Path, out: Path) -> ResultFiles:
    """The same files, as a page in ``out`` links to them."""
    start = PurePosixPath(Path(os.path.relpath(folder, out)).as_posix())

    def moved(path: str | None) -> str | None:
        return None if path is None else str(start / path)

    return ResultFiles(
        json=str(start / files.json),
        csv=moved(files.csv),
        npz=tuple(str(start / path) for path in files.npz),
        changed=tuple(str(start / path) for path in files.changed),
        first_csv=moved(files.first_csv),
        characterization=moved(files.characterization),
    )


def _unjudged(result: Result) -> Iterator[ResultVerdict]:
    """Limits that nothing judged, also those that a shard was allowed to leave."""
    judged = {row.limit for row in result.verdicts if row.status in JUDGED}
    told: set[str] = set()
    for row in result.verdicts:
        if row.status == "NOT JUDGED" and row.limit not in judged | told:
            told.add(row.limit)
            yield row


def _repeated(group: Sequence[tuple[Shard, Result]]) -> Iterator[str]:
    where: dict[str, list[str]] = defaultdict(list)
    for shard, result in group:
        for test in result.tests:
            where[test.nodeid].append(f"{shard.folder} ({test.outcome})")
    for nodeid, places in where.items():
        if len(places) > 1:
            yield f"{nodeid} ran in {' and '.join(places)}"
