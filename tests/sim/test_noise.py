"""Noise of a simulated board: how it is typed, and what each kind does."""

from __future__ import annotations

import statistics

import pytest

from pytest_autodeploy.sim.arguments import refusal
from pytest_autodeploy.sim.noise import Noise, NoiseSource, TimingNoise, parse_noise

MANY = 4000


def factors(text: str, seed: int = 1) -> list[float]:
    source = NoiseSource(parse_noise(text), seed)
    return [source.factor() for _ in range(MANY)]


def test_a_number_alone_is_a_standard_deviation() -> None:
    assert parse_noise("3") == Noise(sd=3.0)


def test_all_kinds_can_be_had_at_once() -> None:
    assert parse_noise("sd=3,outlier=0.1x3,modes=8,run=2,run-modes=6") == Noise(
        3.0, (0.1, 3.0), 8.0, 2.0, 6.0
    )


@pytest.mark.parametrize(
    "text",
    ["", "fast", "sd=x", "sd=-1", "sd=1,sd=2", "speed=1", "outlier=3", "outlier=2x3", "modes=inf"],
)
def test_what_is_not_understood_says_how_it_is_typed(text: str) -> None:
    with pytest.raises(ValueError, match=r"such as sd=3,outlier=0\.1x3"):
        parse_noise(text)
    said = refusal(["--timing-noise", text])
    assert said
    assert "such as sd=3,outlier=0.1x3" in said


def test_each_kind_does_what_it_says() -> None:
    assert statistics.stdev(factors("sd=3")) == pytest.approx(0.03, rel=0.1)
    outliers = factors("outlier=0.1x3")
    assert outliers.count(3.0) == pytest.approx(0.1 * MANY, rel=0.2)
    assert outliers.count(1.0) + outliers.count(3.0) == MANY
    modes = factors("modes=8")
    assert set(modes) == {0.96, 1.04}
    assert statistics.fmean(modes) == pytest.approx(1, abs=0.01)


def test_a_start_is_off_by_the_same_until_the_next_one() -> None:
    source = NoiseSource(parse_noise("run=2"), 1)
    starts = []
    for _ in range(MANY):
        first = source.factor()
        assert source.factor() == first
        starts.append(first)
        source.restart()
    assert statistics.stdev(starts) == pytest.approx(0.02, rel=0.1)


def test_a_seed_gives_the_same_noise_again() -> None:
    assert factors("sd=3,outlier=0.1x3,modes=8,run=2", 7) == factors(
        "sd=3,outlier=0.1x3,modes=8,run=2", 7
    )
    assert factors("sd=3", 7) != factors("sd=3", 8)


def test_without_noise_times_are_exact() -> None:
    assert {TimingNoise().of(1000) for _ in range(10)} == {1000}
    assert TimingNoise(slowdown=10).of(1000) == 1100
