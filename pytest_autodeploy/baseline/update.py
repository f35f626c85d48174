"""Writing baselines from the records of a run: only of what ran and passed, a line per change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pytest_autodeploy.baseline.changes import changes
from pytest_autodeploy.baseline.enough import (
    OF_BASELINE,
    WINDOWS_OF_BASELINE,
    least_of_baseline,
)
from pytest_autodeploy.baseline.errors import BaselineError
from pytest_autodeploy.baseline.format import Baseline, Entry, Layers, Metric, entry_of
from pytest_autodeploy.baseline.lookup import Sought, find_baseline
from pytest_autodeploy.baseline.measured import Measured, measured_by, title_of
from pytest_autodeploy.baseline.store import (
    belongs_elsewhere,
    locked,
    read_baseline,
    write_baseline,
)
from pytest_autodeploy.limits.regression import NoRegression
from pytest_autodeploy.metrics.record import TestRecord

FAILED = ("failed", "error")


@dataclass
class Update:
    """A line per change, and what was asked for and could not be written."""

    lines: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Target:
    """A baseline and what this run has measured for it, by clock mode."""

    path: Path
    title: str
    model: str
    file: str
    entries: Mapping[str, Entry]


def update_baselines(
    records: Sequence[TestRecord],
    folder: Path,
    root: Path,
    *,
    mode: str,
    plugin_version: str,
    limit: NoRegression,
    as_measured: bool = False,
) -> Update:
    """Write what passed; ``mode`` ``all`` replaces values, ``new`` only adds.

    ``limit`` says what is kept. ``as_measured``: of a run that did not measure for a baseline, so
    that noisy values of fewer repeats than a baseline has are refused.

    A model on a board with a failed test is left alone, as are two models with one file.
    """
    update = Update()
    of_boards = [record for record in records if not record.npu]
    failed = {title_of(r): r for r in reversed(of_boards) if r.outcome in FAILED or r.attempts}
    for title, record in sorted(failed.items()):
        how = record.outcome if record.outcome in FAILED else "needed a rerun"
        update.lines.append(f"{title}: not updated, {record.nodeid} {how}")
    doubted = {title_of(r): r for r in reversed(of_boards) if r.board.clock_doubt}
    update.lines += [
        f"{title}: not updated, {record.board.clock_doubt}"
        for title, record in sorted(doubted.items())
        if title not in failed
    ]
    failed |= doubted
    by_path: dict[str, list[_Target]] = {}
    for target in _targets(of_boards, failed, folder, root, plugin_version, limit):
        by_path.setdefault(str(target.path).lower(), []).append(target)
    for targets in by_path.values():
        if len(targets) > 1:
            files = " and ".join(sorted(target.file for target in targets))
            update.problems.append(f"{files} have one baseline, {targets[0].path}: rename one")
        elif as_measured and (short := _short(targets[0])):
            update.problems.append(f"{targets[0].title}: not updated: {short}")
        else:
            _update(targets[0], root, mode, update)
    return update


def _short(target: _Target) -> str:
    """Why a target is no baseline yet: what noise there is, and too few repeats; else empty."""
    few = [
        f"{name} has {metric.repeats}"
        for entry in target.entries.values()
        for name, metric in entry.metrics.items()
        if metric.spread and metric.repeats < least_of_baseline(name)
    ]
    if not few:
        return ""
    return (
        f"a baseline of noisy values has {OF_BASELINE} repeats ({WINDOWS_OF_BASELINE} windows of "
        f"energy) at least, {', '.join(few)}; pytest --autodeploy-update-baseline measures as many"
    )


def _targets(
    records: Sequence[TestRecord],
    failed: Mapping[str, TestRecord],
    folder: Path,
    root: Path,
    plugin_version: str,
    limit: NoRegression,
) -> Iterator[_Target]:
    by_model: dict[tuple[str, str | None], list[Measured]] = {}
    for measured in measured_by(record for record in records if record.outcome == "passed"):
        title = title_of(measured)
        if title not in failed:
            by_model.setdefault((title, measured.model.sha256), []).append(measured)
    for (title, _), modes in by_model.items():
        model, board = modes[-1].model, modes[-1].board
        file, sha256 = model.file or "", model.sha256
        sought = Sought(model.id, file, sha256, board.name or "", board.kind or "")
        path = find_baseline(folder, root, sought, copies=False)
        entries = {mode.board.clock or "": _entry(mode, plugin_version, limit) for mode in modes}
        yield _Target(path, title, model.id, file, entries)


def _entry(mode: Measured, plugin_version: str, limit: NoRegression) -> Entry:
    sha256, measured = mode.model.sha256, mode.measurements
    return entry_of(sha256, mode.board, measured, mode.profile, limit, plugin_version)


def _update(target: _Target, root: Path, mode: str, update: Update) -> None:
    try:
        with locked(target.path):
            old = read_baseline(target.path)
            if old and belongs_elsewhere(old, target.file, root):
                raise BaselineError(
                    f"{target.path} is the baseline of {old.file}, not of {target.file}",
                    hint="rename one of the models",
                )
            entries = dict(old.entries) if old else {}
            lines: list[str] = []
            for clock, entry in target.entries.items():
                before = entries.get(clock)
                entries[clock] = _replace(entry, before, mode)
                lines += changes(before, entries[clock])
            model = old.model if old and old.file == target.file else target.model
            new = Baseline(model, target.file, dict(sorted(entries.items())))
            if new != old:
                write_baseline(target.path, new)
            lines = lines or ["provenance changed" if new != old else "unchanged"]
            update.lines += [f"{target.title}: {line}" for line in lines]
    except BaselineError as error:
        update.problems.append(f"{target.title}: not updated: {error}")


def _replace(new: Entry, old: Entry | None, mode: str) -> Entry:
    """The entry to keep. Raises BaselineError when values of two programs would be mixed."""
    if old is None:
        return new
    same = new.same_program(old)
    if mode == "new":
        return _mix(old, new, {}, old.provenance) if same else old
    lost = sorted(set(old.metrics) - set(new.metrics))
    lost += ["layers"] if old.layers and not new.layers else []
    if not lost:
        return new
    if same:
        return _mix(old, new, new.metrics, new.provenance, new.layers)
    raise BaselineError(
        "the model, its conditions or the firmware changed, "
        f"but {', '.join(lost)} was not measured",
        hint="run all of its tests, or delete the baseline",
    )


def _mix(
    old: Entry,
    new: Entry,
    replacing: Mapping[str, Metric],
    provenance: Mapping[str, str],
    layers: Layers | None = None,
) -> Entry:
    """What is kept with what replaces it and what is new, each value of its own run."""
    number = max(old.updates.values(), default=0) + 1
    metrics = {name: replace(metric, update=number) for name, metric in new.metrics.items()}
    for name, metric in old.metrics.items():
        if name not in replacing or replacing[name] == replace(metric, update=1):
            metrics[name] = metric
    taken = layers or (None if old.layers else new.layers)
    unchanged = old.layers and (not taken or taken == replace(old.layers, update=1))
    kept = old.layers if unchanged or not taken else replace(taken, update=number)
    return Entry(new.conditions, metrics, kept, provenance)
