"""Latency: the time of an inference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_autodeploy.base.measurement import Measurement
from pytest_autodeploy.limits.declared import Declared
from pytest_autodeploy.limits.latency import DECLARATION, STATISTICS
from pytest_autodeploy.metrics.ledger import Row
from pytest_autodeploy.metrics.metric import Metric, at_most, no_limit
from pytest_autodeploy.metrics.subject import NotJudged, Subject
from pytest_autodeploy.model.graph import Model
from pytest_autodeploy.profile.records import LayerProfile
from pytest_autodeploy.session.measured import Latency

CLOCK_HINT = "a supply or a part of the chip may forbid the mode: test --evb-clock LP, or mend it"


class LatencyMetric(Metric):
    """The timed inferences of the test."""

    declaration = DECLARATION

    def measure(self, subject: Subject, declared: Declared) -> None:
        """A power meter knows the mean of windows, and no single inference."""
        if subject.over_pins is None:
            self.provide(subject)
            return
        raise NotJudged(
            f"a power meter over pins tells no {declared.limit.statistic} of inferences",
            hint='only statistic="median", that of the means of windows, is judged there',
        )

    def provide(self, subject: Subject) -> None:
        """Time as many inferences as the session is set to."""
        if subject.board.measured.latency is None:
            subject.board.latency()

    def repeat(self, subject: Subject, name: str, count: int, /, *, restarted: bool) -> bool:
        """Time more inferences."""
        if name != "latency_median":
            return False
        subject.board.time_more(count, restarted=restarted)
        return True

    def measurements(self, subject: Subject) -> Iterator[Measurement]:
        """Latencies, MACs per second, and the sums of a profile."""
        if subject.session is None:
            return
        measured, model = subject.session.measured, subject.session.model
        if measured.latency:
            yield from _of_latency(measured.latency, model)
        if measured.first_profile not in (None, measured.profile):
            yield from _of_first(measured.first_profile)
        if measured.profile:
            yield from _of_profile(measured.profile, model)

    def measured(self, subject: Subject, declared: Declared) -> bool:
        """Whether the test has timed inferences."""
        if subject.over_pins is not None:
            return declared.limit.statistic == "median" and subject.over_pins.main is not None
        return subject.board.measured.latency is not None

    def rows(self, subject: Subject, declared: Declared) -> Iterator[Row]:
        """One row: the statistic that the budget names."""
        if subject.over_pins and (energy := subject.over_pins.main):
            yield at_most(subject, declared, energy.measurement("power_time"), declared.limit.us)
            return
        latency = subject.complete().measured.latency
        assert latency is not None
        if latency.doubt:
            raise NotJudged(latency.doubt, hint=CLOCK_HINT)
        measurement = latency.measurement(declared.limit.statistic)
        yield at_most(subject, declared, measurement, declared.limit.us)

    def unlimited(self, subject: Subject, judged: Sequence[Declared]) -> Iterator[Row]:
        """The median."""
        latency = subject.session.measured.latency if subject.session else None
        if latency is not None and not judged:
            yield no_limit(DECLARATION, latency.measurement("median"))


def _of_latency(latency: Latency, model: Model) -> Iterator[Measurement]:
    for name in STATISTICS:
        yield latency.measurement(name)
    timed = len(latency.samples_us)
    yield Measurement("inferences_timed", timed, "1", "neither", latency.source)
    if model.macs and latency.median_us:
        rate = model.macs / (latency.median_us * 1e-6)
        note = "from the median latency"
        yield Measurement("macs_per_second", rate, "1/s", "higher", latency.source, note)


def _of_profile(profile: LayerProfile, model: Model) -> Iterator[Measurement]:
    """Rates stand beside the profile that they are of, not beside a latency of other inferences."""
    source, note = profile.source, profile.text
    yield Measurement("profile_time", profile.total_us, "us", "lower", source, note)
    if model.macs and profile.total_us:
        rate = model.macs / (profile.total_us * 1e-6)
        yield Measurement("macs_per_second", rate, "1/s", "higher", source, note)
    cycles = profile.total_cycles
    if cycles is not None:
        yield Measurement("profile_cycles", cycles, "1", "lower", source, note)
        if model.macs:
            per_mac = cycles / model.macs
            yield Measurement("cycles_per_mac", per_mac, "1", "lower", source, note)


def _of_first(profile: LayerProfile | None) -> Iterator[Measurement]:
    """The first inference, with cold caches, where a warm one stands beside it."""
    if profile is None:
        return
    source, note = profile.source, profile.text
    yield Measurement("profile_time_first", profile.total_us, "us", "lower", source, note)
    if profile.total_cycles is not None:
        cycles = profile.total_cycles
        yield Measurement("profile_cycles_first", cycles, "1", "lower", source, note)
