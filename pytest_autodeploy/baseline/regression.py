"""The regression metric: what a test has measured is held against its baseline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pytest_autodeploy.baseline.confirmation import confirm
from pytest_autodeploy.baseline.enough import Enough
from pytest_autodeploy.baseline.layer_profiles import blamed, more_profiles, profile
from pytest_autodeploy.baseline.standard import entry_now, place_of, standard_of
from pytest_autodeploy.baseline.verdict import unmeasured, verdict
from pytest_autodeploy.limits.declaration import Declaration
from pytest_autodeploy.limits.declared import Declared
from pytest_autodeploy.limits.regression import LAYERS, NoRegression
from pytest_autodeploy.metrics.comparison import Comparison
from pytest_autodeploy.metrics.ledger import Row
from pytest_autodeploy.metrics.metric import Metric, row
from pytest_autodeploy.metrics.subject import NotJudged, Subject


class Regression(Metric):
    """Holds the values of the other metrics against the baseline of the model and board."""

    def __init__(self, declaration: Declaration, others: Sequence[Metric]) -> None:
        self.declaration = declaration
        self._others = others

    def provide(self, _subject: Subject) -> None:
        """The other metrics are what it compares."""

    def measured(self, subject: Subject, _declared: Declared) -> bool:
        """Whether nothing has to be measured: there is no baseline, and none is written."""
        return place_of(subject).update is None and not standard_of(subject).exists

    def measure(self, subject: Subject, declared: Declared) -> None:
        """Measure what must be judged, and more of it while the repeats do not tell enough."""
        limit, place = _limit(declared), place_of(subject)
        for group in self._wanted(subject, declared):
            self._measure(subject, group)
        if limit.percent[LAYERS] is not None and subject.board.measured.profile:
            profile(subject.board, baseline=place.update is not None)
        if subject.board.kind.exact:
            return
        enough = self._enough(subject, declared)
        entry = standard_of(subject).entry(entry_now(subject, self._others, limit).conditions.clock)
        if place.update is not None:
            enough.for_baseline(place.baseline_runs)
        elif entry is not None:
            enough.against(entry, place.compare_runs)

    def rows(self, subject: Subject, declared: Declared) -> Iterator[Row]:
        """One row, of the worst that was found."""
        if declared.origin == "none":
            return
        if place_of(subject).update == "all":
            yield row(declared, "no limit", "the baseline is being written")
            return
        comparison = self._comparison(subject, declared)
        subject.evidence.comparison = comparison
        yield verdict(subject, declared, comparison)

    def _wanted(self, subject: Subject, declared: Declared) -> Iterator[str]:
        """The groups that the test has to measure for the comparison.

        A marker is about all that is not off, as far as the board can, and can do without a meter.
        """
        must = _must(subject, declared)
        for group, percent in _limit(declared).percent.items():
            if percent is None:
                continue
            cheap = declared.by_marker and group not in ("energy", "outputs")
            if group in must or (cheap and (group != LAYERS or subject.board.has_profile)):
                yield group

    def _measure(self, subject: Subject, group: str) -> None:
        if group == LAYERS:
            if not subject.board.has_profile:
                raise NotJudged(f"{group}: the board cannot profile layers")
            profile(subject.board, baseline=place_of(subject).update is not None)
            return
        metric = next(
            each
            for each in self._others
            if group in {known.name for known in each.declaration.groups}
        )
        metric.provide(subject)

    def _enough(self, subject: Subject, declared: Declared) -> Enough:
        """What measures more; all of a test's measuring shares its time."""
        name = "measuring enough"
        if name not in subject.notes:
            place = place_of(subject)
            seconds = place.seconds * (1 if place.update is None else place.baseline_runs)
            subject.notes[name] = Enough(subject, self._others, _limit(declared), seconds)
        found: Enough = subject.notes[name]
        return found

    def _comparison(self, subject: Subject, declared: Declared) -> Comparison:
        comparison = confirm(
            lambda: self._compare(subject, declared), self._enough(subject, declared)
        )
        missing = unmeasured(
            _must(subject, declared),
            _limit(declared),
            entry_now(subject, self._others, _limit(declared)),
        )
        if missing and comparison.state != "regression":
            reasons = (*comparison.reasons, *missing)
            return replace(comparison, state="not comparable", reasons=reasons)
        return comparison

    def _compare(self, subject: Subject, declared: Declared) -> Comparison:
        limit, standard = _limit(declared), standard_of(subject)
        latency = subject.board.measured.latency
        if latency and latency.doubt and standard.exists:
            return Comparison("not comparable", standard.file, reasons=(latency.doubt,))
        if standard.baseline is None:
            return standard.compared(entry_now(subject, self._others, limit), limit)
        now = entry_now(subject, self._others, limit)
        judged = now.layers is not None and limit.percent[LAYERS] is not None
        comparison = standard.compared(now, limit, judge_layers=judged)
        enough = self._enough(subject, declared)
        if judged and more_profiles(subject.board, comparison, enough):
            return self._compare(subject, declared)
        return blamed(subject, self._others, limit, comparison)


def _limit(declared: Declared) -> NoRegression:
    limit: NoRegression = declared.limit
    return limit


def _must(subject: Subject, declared: Declared) -> frozenset[str]:
    """The named groups that this test has to judge."""
    asked = _limit(declared).asked
    return asked if declared.by_marker else asked & place_of(subject).owed
