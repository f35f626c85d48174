"""Energy and power of an inference, in a clock mode."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_autodeploy.base.measurement import Measurement
from pytest_autodeploy.limits.declaration import Declaration
from pytest_autodeploy.limits.declared import Declared
from pytest_autodeploy.limits.energy import ENERGY, MODES, POWER, EnergyLimit
from pytest_autodeploy.metrics.ledger import Row
from pytest_autodeploy.metrics.metric import Metric, at_most, no_limit
from pytest_autodeploy.metrics.subject import NotJudged, Subject
from pytest_autodeploy.power.measure import PowerMeter
from pytest_autodeploy.session.energy import Energy


class _WithMeter(Metric):
    """What energy and power share: the windows of a power meter."""

    def provide(self, subject: Subject) -> None:
        """Measure in the session's own clock mode."""
        if not subject.energies:
            _meter(subject).measure(subject.board, subject.board.clock)

    def measured(self, subject: Subject, declared: Declared) -> bool:
        """Whether the test has measured in the clock mode of the limit."""
        return declared.limit.mode in subject.energies

    def measure(self, subject: Subject, declared: Declared) -> None:
        """Measure in the clock mode of the limit."""
        if subject.over_pins is not None:
            raise NotJudged(
                f"there is no energy in the clock mode {declared.limit.mode}",
                hint="see --autodeploy-power-modes; the board may have no such mode",
            )
        _meter(subject).measure(subject.board, declared.limit.mode)


def _energy(subject: Subject, declared: Declared) -> Energy:
    """The energy in the clock mode of the limit, where nothing is left out of it."""
    if subject.over_pins is None:
        subject.complete()
    return subject.energies[declared.limit.mode]


def _meter(subject: Subject) -> PowerMeter:
    meter = subject.services.power_meter()
    if meter is None:
        raise NotJudged("no power meter", hint="give --autodeploy-power METER")
    return meter


class EnergyMetric(_WithMeter):
    """The energy of an inference."""

    declaration: Declaration = ENERGY

    def repeat(self, subject: Subject, name: str, count: int, /, *, restarted: bool) -> bool:
        """Measure more windows of a clock mode."""
        mode = next((mode for mode in MODES if name == f"energy_{mode.lower()}"), None)
        if mode is None or subject.over_pins is not None:
            return False
        return _meter(subject).measure_more(subject.board, mode, count, restarted=restarted)

    def measurements(self, subject: Subject) -> Iterator[Measurement]:
        """Energy, power and charge in each clock mode."""
        for energy in subject.energies.values():
            yield from energy.measurements()

    def rows(self, subject: Subject, declared: Declared) -> Iterator[Row]:
        """One row."""
        energy = _energy(subject, declared)
        yield at_most(subject, declared, energy.measurement("energy"), declared.limit.uj)

    def unlimited(self, subject: Subject, judged: Sequence[Declared]) -> Iterator[Row]:
        """The energy of each clock mode without a limit."""
        limited = {each.limit.mode for each in judged if isinstance(each.limit, EnergyLimit)}
        for mode, energy in subject.energies.items():
            if mode not in limited:
                limit = f"energy_limit(mode={mode!r})"
                yield no_limit(ENERGY, energy.measurement("energy"), limit)


class PowerMetric(_WithMeter):
    """The mean power while inferences run."""

    declaration: Declaration = POWER

    def rows(self, subject: Subject, declared: Declared) -> Iterator[Row]:
        """One row."""
        energy = _energy(subject, declared)
        yield at_most(subject, declared, energy.measurement("power"), declared.limit.mw)
