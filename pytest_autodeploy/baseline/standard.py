"""What a test is held against: the baseline of its model and board, found once per test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_autodeploy.baseline.compare import compare
from pytest_autodeploy.baseline.errors import BaselineError
from pytest_autodeploy.baseline.format import Baseline, Entry, entry_of
from pytest_autodeploy.baseline.lookup import Sought, find_baseline, nearest_names, same_content
from pytest_autodeploy.baseline.store import belongs_elsewhere, other_boards, read_baseline
from pytest_autodeploy.limits.regression import NoRegression
from pytest_autodeploy.metrics.comparison import Comparison
from pytest_autodeploy.metrics.metric import Metric
from pytest_autodeploy.metrics.records.facts import board_facts
from pytest_autodeploy.metrics.subject import Baselines, Subject

NOTE = "baseline"


@dataclass(frozen=True)
class Standard:
    """The baseline at ``path``, and what it is called; None where there is none to hold against.

    ``refusal`` is what the comparison then is. ``exists``: there is a file all the same.
    """

    path: Path
    file: str
    baseline: Baseline | None
    refusal: Comparison | None = None
    exists: bool = True

    def entry(self, clock: str) -> Entry | None:
        """What a clock mode is held against: its own entry, or one that is not comparable."""
        entries = self.baseline.entries if self.baseline else {}
        return entries.get(clock) or next(iter(entries.values()), None)

    def compared(
        self, now: Entry, limit: NoRegression, *, judge_layers: bool | None = None
    ) -> Comparison:
        """The comparison of ``now``; layers are judged when there are some, unless it is said."""
        entry = self.entry(now.conditions.clock)
        if entry is None:
            return self.refusal or Comparison("no baseline", self.file)
        judged = bool(now.layers) if judge_layers is None else judge_layers
        return compare(entry, now, limit, self.file, judge_layers=judged)


def place_of(subject: Subject) -> Baselines:
    """Where the baseline of a test is, and how it is used."""
    assert subject.baselines is not None
    return subject.baselines


def entry_now(subject: Subject, metrics: Sequence[Metric], limit: NoRegression) -> Entry:
    """What a test has measured by these metrics, as it would be kept."""
    session = subject.board
    found = [each for metric in metrics for each in metric.measurements(subject)]
    layers = session.measured.profile
    return entry_of(session.model.sha256, board_facts(session), found, layers, limit)


def standard_of(subject: Subject) -> Standard:
    """What a test is held against; its file is read when this is asked for the first time."""
    if NOTE not in subject.notes:
        place, session = place_of(subject), subject.board
        sha256, kind = session.model.sha256, session.kind.name
        sought = Sought(place.model_id, place.model_file, sha256, session.identity.board, kind)
        subject.notes[NOTE] = standard(
            place.folder, place.root, sought, copies=place.update is None
        )
    found: Standard = subject.notes[NOTE]
    return found


def standard(folder: Path, root: Path, sought: Sought, *, copies: bool = True) -> Standard:
    """The baseline that is sought; errors of reading it are refusals."""
    path = find_baseline(folder, root, sought, copies=copies)
    file = path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
    try:
        baseline = read_baseline(path, file)
    except BaselineError as error:
        reasons = (str(error).replace("\n ", ":"),)
        return Standard(path, file, None, Comparison("not comparable", file, reasons=reasons))
    if baseline is None:
        return Standard(path, file, None, _missing(path, file), exists=False)
    elsewhere = belongs_elsewhere(baseline, sought.file, root)
    if elsewhere and not same_content(baseline, sought.sha256):
        reason = f"the baseline belongs to another model of that name, {baseline.file}"
        return Standard(path, file, None, Comparison("not comparable", file, reasons=(reason,)))
    return Standard(path, file, baseline)


def _missing(path: Path, file: str) -> Comparison:
    """Of which other boards, or else other models, there are baselines."""
    others = other_boards(path)
    reasons = tuple(f"the baseline is of {other}" for other in others)
    reasons = reasons or tuple(nearest_names(path))
    return Comparison("not comparable" if others else "no baseline", file, reasons=reasons)
