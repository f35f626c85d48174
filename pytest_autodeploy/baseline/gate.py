"""The comparison of a test with its baseline: what it needs is measured, then it is judged."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_autodeploy.baseline.compare import compare
from pytest_autodeploy.baseline.errors import BaselineError
from pytest_autodeploy.baseline.format import GROUPS, Entry, entry_of
from pytest_autodeploy.baseline.precision import repeats_needed
from pytest_autodeploy.baseline.store import (
    baseline_path,
    belongs_elsewhere,
    other_boards,
    read_baseline,
)
from pytest_autodeploy.baseline.words import block, headline
from pytest_autodeploy.limits.declarations import Declared
from pytest_autodeploy.limits.regression import NoRegression
from pytest_autodeploy.metrics.comparison import Comparison
from pytest_autodeploy.metrics.failures import FailureClass
from pytest_autodeploy.metrics.measurements import measurements_of
from pytest_autodeploy.metrics.records.facts import board_facts
from pytest_autodeploy.metrics.verdict import Verdict

if TYPE_CHECKING:
    from pytest_autodeploy.metrics.judge import Judgement
    from pytest_autodeploy.reference.agreement import Agreement
    from pytest_autodeploy.session.model_session import ModelSession

PROFILES = 10
"""Inferences behind the time of a layer."""

MOST_TIMES = 10
"""How many times the inferences that were asked for may be timed to tell a threshold apart."""

MARGIN = 0.8
"""The repeats are to tell apart this share of what is allowed."""


@dataclass(frozen=True)
class Gate:
    """How a test is held against a baseline.

    ``folder`` has the baselines, ``root`` is where the paths of models start. ``asked``: a missing
    baseline fails. ``update`` is ``all``, ``new`` or None.
    """

    folder: Path
    root: Path
    model_id: str
    model_file: str
    declared: Declared
    asked: bool
    update: str | None

    @property
    def _limit(self) -> NoRegression:
        assert isinstance(self.declared.limit, NoRegression)
        return self.declared.limit

    def measure(self, session: ModelSession) -> None:
        """Measure what a marker asks for, and more of it while the repeats do not tell enough."""
        path = self._path(session)
        if self.update is None and not path.exists():
            return
        percent, measured = self._limit.percent, session.measured
        if self.declared.origin == "marker":
            if percent["latency"] is not None and measured.latency is None:
                session.latency()
            sizes = (percent["arena"], percent["model_size"])
            if measured.memory is None and any(size is not None for size in sizes):
                session.memory()
            if percent["per_layer"] is not None and session.has_profile:
                self._profile(session)
        if percent["latency"] is not None and measured.latency:
            self._refine(session, percent["latency"])
        if percent["per_layer"] is not None and measured.profile:
            self._profile(session)

    def judged(self, session: ModelSession, judgement: Judgement) -> Judgement:
        """The judgement with the comparison; the same while the baseline is about to be written."""
        if self.update == "all" or self.declared.origin == "none":
            return judgement
        comparison = self._comparison(session, judgement.agreement)
        if comparison.state == "no baseline" and self.update == "new":
            return judgement
        verdicts = (*judgement.verdicts, self._verdict(session, comparison))
        return replace(judgement, verdicts=verdicts, comparison=comparison)

    def _path(self, session: ModelSession) -> Path:
        return baseline_path(self.folder, self.model_id, *_board_type(session))

    def _refine(self, session: ModelSession, percent: float) -> None:
        latency = session.measured.latency
        assert latency
        most = MOST_TIMES * len(latency.samples_us)
        for _ in range(3):
            allowed = max(percent * latency.median_us / 100, self._limit.floor_us)
            if not allowed or latency.spread_us is None:
                return
            needed = repeats_needed(latency.spread_us, MARGIN * allowed, most)
            more = needed - len(latency.samples_us)
            if more <= 0:
                return
            latency = session.time_more(more)

    @staticmethod
    def _profile(session: ModelSession) -> None:
        profile = session.measured.profile
        if profile is None:
            session.profile(repeats=PROFILES)
        elif profile.repeats < PROFILES:
            session.profile(profile.run, PROFILES)

    def _comparison(self, session: ModelSession, agreement: Agreement | None) -> Comparison:
        path = self._path(session)
        file = _shown(path, self.root)
        try:
            baseline = read_baseline(path, file)
        except BaselineError as error:
            return Comparison("not comparable", file, reasons=(str(error).replace("\n ", ":"),))
        if baseline is None:
            others = other_boards(path)
            reasons = tuple(f"the baseline is of {other}" for other in others)
            return Comparison("not comparable" if others else "no baseline", file, reasons=reasons)
        if belongs_elsewhere(baseline, self.model_file, self.root):
            reason = f"the baseline belongs to another model of that name, {baseline.file}"
            return Comparison("not comparable", file, reasons=(reason,))
        now = entry_now(session, agreement)
        entry = baseline.entries.get(now.conditions.clock)
        if entry is None:
            entry = next(iter(baseline.entries.values()), None)
        if entry is None:
            return Comparison("no baseline", file)
        return self._compared(session, entry, now, file)

    def _compared(self, session: ModelSession, entry: Entry, now: Entry, file: str) -> Comparison:
        judged = now.layers is not None and self._limit.percent["per_layer"] is not None
        comparison = compare(entry, now, self._limit, file, judge_layers=judged)
        slower = any(
            row.state == "regression" and row.name in GROUPS["latency"] for row in comparison.rows
        )
        if slower and now.layers is None and entry.layers and session.has_profile:
            session.profile(repeats=PROFILES)
            now = replace(now, layers=entry_now(session, None).layers)
            comparison = compare(entry, now, self._limit, file, judge_layers=False)
        unmeasured = self._unmeasured(now)
        if unmeasured and comparison.state != "regression":
            return replace(
                comparison, state="not comparable", reasons=(*comparison.reasons, *unmeasured)
            )
        return comparison

    def _unmeasured(self, now: Entry) -> list[str]:
        """What a marker named and the test did not measure."""
        if self.declared.origin != "marker":
            return []
        missing = [
            group
            for group in sorted(self._limit.asked - {"per_layer"})
            if not set(GROUPS[group]) & set(now.metrics)
        ]
        if "per_layer" in self._limit.asked and now.layers is None:
            missing.append("per_layer")
        return [f"{group} was not measured by this test" for group in missing]

    def _verdict(self, session: ModelSession, comparison: Comparison) -> Verdict:
        declared = self.declared
        words = headline(comparison)
        passed = self._passed(comparison, self._path(session).exists())
        if passed is False:
            how = f"{declared.words} by {declared.origin}"
            lines = block(comparison, how, session.model.sha256)
            words = "\n".join([f"{session.model.name} on {session.board.id}: {words}", *lines])
        regressed = comparison.state == "regression"
        failure: FailureClass = "regression" if regressed else "not comparable"
        return Verdict(declared.words, declared.origin, passed, words, failure=failure)

    def _passed(self, comparison: Comparison, exists: bool) -> bool | None:
        """What is not asked for does not fail without a baseline; what has one never passes."""
        if comparison.state in ("within", "improved"):
            return True
        if comparison.state == "regression":
            return False
        if comparison.state == "not comparable" and exists:
            return False
        return False if self.asked else None


def entry_now(session: ModelSession, agreement: Agreement | None) -> Entry:
    """What a test has measured, as it would be kept."""
    measured = session.measured
    measurements = measurements_of(session, agreement)
    if measured.memory is None:
        measurements = [m for m in measurements if m.name != "model_size"]
    return entry_of(session.model.sha256, board_facts(session), measurements, measured.profile)


def _board_type(session: ModelSession) -> tuple[str, str]:
    return session.identity.board, session.kind.name


def _shown(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
