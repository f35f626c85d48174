"""How much energy an inference may take, and how much power."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pytest_autodeploy.base.numbers import check_number
from pytest_autodeploy.limits.declaration import Declaration, Group
from pytest_autodeploy.limits.numbers import check_choice

Mode = Literal["HP", "LP"]
MODES: tuple[Mode, ...] = ("HP", "LP")


@dataclass(frozen=True)
class EnergyLimit:
    """The most energy of one inference, in microjoules, in a clock mode."""

    uj: float
    mode: Mode = "HP"


@dataclass(frozen=True)
class PowerLimit:
    """The most mean power while inferences run, in milliwatts, in a clock mode."""

    mw: float
    mode: Mode = "HP"


def energy_limit(*, uj: float, mode: Mode = "HP") -> EnergyLimit:
    """Declare the most energy of one inference."""
    check_number("uj", uj, above=True)
    check_choice("mode", mode, MODES)
    return EnergyLimit(uj, mode)


def power_limit(*, mw: float, mode: Mode = "HP") -> PowerLimit:
    """Declare the most mean power while inferences run."""
    check_number("mw", mw, above=True)
    check_choice("mode", mode, MODES)
    return PowerLimit(mw, mode)


ENERGY = Declaration(
    name="energy_limit",
    signature=energy_limit,
    flag="--tflite-energy-limit",
    marker_help='one inference takes at most that energy; mode "HP" or "LP"',
    option_help="Limit of the built-in energy test, such as uj=250 or uj=300,mode=LP",
    suite_test="test_energy",
    needs="meter",
    which=("mode",),
    listed=True,
    groups=(
        Group(
            "energy",
            ("energy_hp", "energy_lp"),
            5,
            floor_keyword="floor_uj",
            floor_default=0.1,
            noisy=True,
        ),
    ),
)
POWER = Declaration(
    name="power_limit",
    signature=power_limit,
    flag="--tflite-power-limit",
    marker_help='inferences take at most that mean power; mode "HP" or "LP"',
    option_help="Limit of the built-in energy test, such as mw=20 or mw=12,mode=LP",
    suite_test="test_energy",
    needs="meter",
    which=("mode",),
    listed=True,
)
