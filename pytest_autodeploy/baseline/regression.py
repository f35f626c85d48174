"""The regression metric: what a test has measured is held against its baseline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pytest_autodeploy.baseline.compare import compare
from pytest_autodeploy.baseline.errors import BaselineError
from pytest_autodeploy.baseline.format import Baseline, Entry, entry_of
from pytest_autodeploy.baseline.lookup import Sought, find_baseline, nearest_names, same_content
from pytest_autodeploy.baseline.precision import repeats_needed
from pytest_autodeploy.baseline.store import belongs_elsewhere, other_boards, read_baseline
from pytest_autodeploy.baseline.words import block, headline
from pytest_autodeploy.limits.declaration import Declaration
from pytest_autodeploy.limits.merging import Declared
from pytest_autodeploy.limits.regression import NoRegression
from pytest_autodeploy.metrics.comparison import Comparison
from pytest_autodeploy.metrics.ledger import Row, Status
from pytest_autodeploy.metrics.metric import Metric, row
from pytest_autodeploy.metrics.records.facts import board_facts
from pytest_autodeploy.metrics.subject import Baselines, NotJudged, Subject
from pytest_autodeploy.session.model_session import ModelSession

PROFILES = 10
"""Inferences behind the time of a layer."""

MOST_TIMES = 10
"""How many times the inferences that were asked for may be timed to tell a threshold apart."""

MARGIN = 0.8
"""The repeats are to tell apart this share of what is allowed."""

LAYERS = "per_layer"


class Regression(Metric):
    """Holds the values of the other metrics against the baseline of the model and board."""

    def __init__(self, declaration: Declaration, others: Sequence[Metric]) -> None:
        self.declaration = declaration
        self._others = others

    def provide(self, _subject: Subject) -> None:
        """The other metrics are what it compares."""

    def measured(self, subject: Subject, _declared: Declared) -> bool:
        """Whether nothing has to be measured: there is no baseline, and none is written."""
        place = _place(subject)
        return place.update is None and not _path(place, subject.board).exists()

    def measure(self, subject: Subject, declared: Declared) -> None:
        """Measure what must be judged, and more of it while the repeats do not tell enough."""
        limit: NoRegression = declared.limit
        session, percent = subject.board, declared.limit.percent
        for group in self._wanted(subject, declared):
            self._measure(subject, group)
        if percent["latency"] is not None and session.measured.latency:
            _refine(session, percent["latency"], limit.floors["floor_us"])
        if percent[LAYERS] is not None and session.measured.profile:
            _profile(session)

    def rows(self, subject: Subject, declared: Declared) -> Iterator[Row]:
        """One row, of the worst that was found."""
        place = _place(subject)
        if declared.origin == "none":
            return
        if place.update == "all":
            yield row(declared, "no limit", "the baseline is being written")
            return
        comparison = self._comparison(subject, declared)
        subject.evidence.comparison = comparison
        yield _row(subject, declared, comparison)

    def _wanted(self, subject: Subject, declared: Declared) -> Iterator[str]:
        """The groups that the test has to measure for the comparison.

        A marker is about all that is not off, as far as the board can, and can do without a meter.
        """
        limit: NoRegression = declared.limit
        must = _must(subject, declared)
        for group, percent in limit.percent.items():
            if percent is None:
                continue
            cheap = declared.by_marker and group not in ("energy", "outputs")
            if group in must or (cheap and (group != LAYERS or subject.board.has_profile)):
                yield group

    def _measure(self, subject: Subject, group: str) -> None:
        session = subject.board
        if group == LAYERS:
            if not session.has_profile:
                raise NotJudged(f"{group}: the board cannot profile layers")
            _profile(session)
            return
        metric = next(
            each
            for each in self._others
            if group in {known.name for known in each.declaration.groups}
        )
        metric.provide(subject)

    def _comparison(self, subject: Subject, declared: Declared) -> Comparison:
        place, session = _place(subject), subject.board
        path = _path(place, session)
        file = _shown(path, place.root)
        try:
            baseline = read_baseline(path, file)
        except BaselineError as error:
            return Comparison("not comparable", file, reasons=(str(error).replace("\n ", ":"),))
        if baseline is None:
            others = other_boards(path)
            reasons = tuple(f"the baseline is of {other}" for other in others)
            reasons = reasons or tuple(nearest_names(path))
            return Comparison("not comparable" if others else "no baseline", file, reasons=reasons)
        elsewhere = belongs_elsewhere(baseline, place.model_file, place.root)
        if elsewhere and not same_content(baseline, session.model.sha256):
            reason = f"the baseline belongs to another model of that name, {baseline.file}"
            return Comparison("not comparable", file, reasons=(reason,))
        now = self.entry_now(subject, declared.limit)
        entry = _entry(baseline, now)
        if entry is None:
            return Comparison("no baseline", file)
        return self._compared(subject, declared, entry, now, file)

    def _compared(
        self, subject: Subject, declared: Declared, entry: Entry, now: Entry, file: str
    ) -> Comparison:
        limit: NoRegression = declared.limit
        session = subject.board
        judged = now.layers is not None and limit.percent[LAYERS] is not None
        comparison = compare(entry, now, limit, file, judge_layers=judged)
        slower = any(
            row.state == "regression" and limit.group_of(row.name) == "latency"
            for row in comparison.rows
        )
        if slower and now.layers is None and entry.layers and session.has_profile:
            session.profile(repeats=PROFILES)
            now = replace(now, layers=self.entry_now(subject, limit).layers)
            comparison = compare(entry, now, limit, file, judge_layers=False)
        unmeasured = _unmeasured(_must(subject, declared), limit, now)
        if unmeasured and comparison.state != "regression":
            return replace(
                comparison, state="not comparable", reasons=(*comparison.reasons, *unmeasured)
            )
        return comparison

    def entry_now(self, subject: Subject, limit: NoRegression) -> Entry:
        """What a test has measured, as it would be kept."""
        session = subject.board
        found = [each for metric in self._others for each in metric.measurements(subject)]
        profile = session.measured.profile
        return entry_of(session.model.sha256, board_facts(session), found, profile, limit)


def _place(subject: Subject) -> Baselines:
    assert subject.baselines is not None
    return subject.baselines


def _path(place: Baselines, session: ModelSession) -> Path:
    model, board, kind = place.model_id, session.identity.board, session.kind.name
    sought = Sought(model, place.model_file, session.model.sha256, board, kind)
    return find_baseline(place.folder, place.root, sought, copies=place.update is None)


def _must(subject: Subject, declared: Declared) -> frozenset[str]:
    """The named groups that this test has to judge."""
    asked: frozenset[str] = declared.limit.asked
    return asked if declared.by_marker else asked & _place(subject).owed


def _entry(baseline: Baseline, now: Entry) -> Entry | None:
    entries: Mapping[str, Entry] = baseline.entries
    return entries.get(now.conditions.clock) or next(iter(entries.values()), None)


def _refine(session: ModelSession, percent: float, floor_us: float) -> None:
    latency = session.measured.latency
    assert latency
    most = MOST_TIMES * len(latency.samples_us)
    for _ in range(3):
        allowed = max(percent * latency.median_us / 100, floor_us)
        if not allowed or latency.spread_us is None:
            return
        needed = repeats_needed(latency.spread_us, MARGIN * allowed, most)
        more = needed - len(latency.samples_us)
        if more <= 0:
            return
        latency = session.time_more(more)


def _profile(session: ModelSession) -> None:
    profile = session.measured.profile
    if profile is None:
        session.profile(repeats=PROFILES)
    elif profile.repeats < PROFILES:
        session.profile(profile.run, PROFILES)


def _unmeasured(must: frozenset[str], limit: NoRegression, now: Entry) -> list[str]:
    """What was named and the test did not measure."""
    missing = [
        group
        for group in sorted(must - {LAYERS})
        if not set(limit.groups[group].measurements) & set(now.metrics)
    ]
    if LAYERS in must and now.layers is None:
        missing.append(LAYERS)
    return [f"{group} was not measured by this test" for group in missing]


def _row(subject: Subject, declared: Declared, comparison: Comparison) -> Row:
    session, place = subject.board, _place(subject)
    words = headline(comparison)
    asked = place.compare or declared.origin != "default"
    status = _status(comparison, asked=asked, exists=_path(place, session).exists())
    if comparison.state == "no baseline" and place.update == "new":
        status = "no limit"
    if status in ("FAIL", "NOT JUDGED"):
        how = f"{declared.words} by {declared.origin}"
        lines = block(comparison, how, session.model.sha256)
        words = "\n".join([f"{subject.title}: {words}", *lines])
    regressed = comparison.state == "regression"
    return row(declared, status, words, failure="regression" if regressed else "not comparable")


def _status(comparison: Comparison, *, asked: bool, exists: bool) -> Status:
    """What is not asked for is not red without a baseline; what has one never passes unjudged."""
    if comparison.state in ("within", "improved"):
        return "pass"
    if comparison.state == "regression":
        return "FAIL"
    return (
        "NOT JUDGED" if asked or (comparison.state == "not comparable" and exists) else "no limit"
    )


def _shown(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
