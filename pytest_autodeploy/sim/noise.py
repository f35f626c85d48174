"""Noise in the times and powers of a simulated board, whose own are always the same; for testing.

Real boards have more than one kind of noise, so each can be had, alone or together.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, fields

SYNTAX = (
    "such as sd=3,outlier=0.1x3,modes=8,run=2: a standard deviation, a share of values that are so "
    "many times as large, two modes so far apart, and what each start of the board is off; all in "
    "per cent of the mean but the outliers. A number alone is sd"
)


@dataclass(frozen=True)
class Noise:
    """How values vary, in per cent of their mean, but for outliers: a ``share`` times ``factor``.

    ``sd`` is the standard deviation of normal noise. ``modes``: half of the values are larger than
    the others by so much, which goes half below and half above the mean. ``run`` is the standard
    deviation of a normal factor that each start of the board draws, and ``run_modes`` is to it what
    ``modes`` is to ``sd``.
    """

    sd: float = 0.0
    outlier: tuple[float, float] = (0.0, 1.0)
    modes: float = 0.0
    run: float = 0.0
    run_modes: float = 0.0

    @property
    def any(self) -> bool:
        """Whether values of one start vary."""
        return bool(self.sd or self.outlier[0] or self.modes)


def parse_noise(text: str) -> Noise:
    """Noise as it is typed. Raises ValueError that says how."""
    try:
        return Noise(sd=_number(text))
    except ValueError:
        pass
    found: dict[str, float | tuple[float, float]] = {}
    names = {field.name.replace("_", "-"): field.name for field in fields(Noise)}
    for part in text.split(","):
        key, _, value = part.partition("=")
        if key not in names or names[key] in found:
            raise ValueError(f"{part!r} in {text!r}: use {', '.join(names)}, each once; {SYNTAX}")
        try:
            found[names[key]] = _outlier(value) if key == "outlier" else _number(value)
        except ValueError:
            raise ValueError(f"{part!r} in {text!r} is not understood; {SYNTAX}") from None
    return Noise(**found)  # type: ignore[arg-type]  # the keys are those of its fields


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value) or value < 0:
        raise ValueError(text)
    return value


def _outlier(text: str) -> tuple[float, float]:
    share, times, factor = text.partition("x")
    if not times or _number(share) > 1:
        raise ValueError(text)
    return _number(share), _number(factor)


class NoiseSource:
    """Draws factors from one seed: a new one for each value, and one for each start."""

    def __init__(self, noise: Noise = Noise(), seed: int = 0) -> None:  # frozen
        self._noise = noise
        self._random = random.Random(seed)  # noqa: S311  # repeatable on purpose
        self._start = 1.0
        self.restart()

    def restart(self) -> None:
        """Draw the factor of a start."""
        self._start = self._drawn(self._noise.run, self._noise.run_modes)

    def factor(self) -> float:
        """The factor of a value."""
        if not self._noise.any:
            return self._start
        factor = self._start * self._drawn(self._noise.sd, self._noise.modes)
        share, times = self._noise.outlier
        return factor * times if share and self._random.random() < share else factor

    def _drawn(self, deviation: float, modes: float) -> float:
        factor = self._random.gauss(1, deviation / 100) if deviation else 1.0
        if modes:
            factor *= 1 + self._random.choice((-0.5, 0.5)) * modes / 100
        return max(0.0, factor)


class TimingNoise:
    """Makes each time that a board reports another, from one seed.

    ``noise`` is a standard deviation in per cent, or more than that; ``slowdown`` is what the mean
    is above 1, in per cent. Every inference and every layer has its own factor, so the layers of an
    inference do not add up to its time; all times of one start share that of the start.
    """

    def __init__(self, noise: float | Noise = 0.0, seed: int = 0, slowdown: float = 0.0) -> None:
        self._mean = 1 + slowdown / 100
        self._source = NoiseSource(noise if isinstance(noise, Noise) else Noise(noise), seed)

    def restart(self) -> None:
        """The board has started anew."""
        self._source.restart()

    def of(self, ticks: int) -> int:
        """The time that is reported in place of ``ticks``."""
        return max(0, round(ticks * self._mean * self._source.factor()))
