"""Whether the power meter is wired, and what it says is believable."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_autodeploy.power.live import PowerOptions, measured
from pytest_autodeploy.power.window import Window
from pytest_autodeploy.power.wiring import probe
from pytest_autodeploy.run.commission.own_models import CNN
from pytest_autodeploy.run.commission.rig import Rig
from pytest_autodeploy.run.commission.rows import Check, Finding, NotApplicable

if TYPE_CHECKING:
    from pytest_autodeploy.power.meter import Meter
    from pytest_autodeploy.session.energy import Energy

ENERGY_SHARE = 0.01
WINDOWS_SHARE = 0.02
SUPPLY_V = (1.62, 5.5)
"""From the least that an Apollo runs at to a little above USB's 5 V."""

MOST_IDLE_MW = 500.0
"""An EVB whose LEDs and debug chip are supplied through the meter draws some 100 mW."""


def _meter(rig: Rig) -> Meter:
    meter = rig.meter
    if meter is None:
        raise NotApplicable("no power meter")
    return meter


def _wiring(rig: Rig) -> Finding:
    meter, session = _meter(rig), rig.session(CNN)
    session.ensure()
    with session.recording.aside():
        wiring = probe(session.board, session.board.client, meter)
    bad = [line.partition(": ")[2] for line in wiring.lines() if not line.endswith(": works")]
    found = [line for line in bad if not line.startswith("note:")]
    rig.wired = wiring.works
    return Finding("; ".join(found) or "trigger, In0 and In1 work", wiring.works)


def _energy(rig: Rig, seconds: float) -> Energy:
    """Of windows of so many seconds, each measured once."""
    meter, session = _meter(rig), rig.session(CNN)
    if not rig.wired:
        raise NotApplicable("the lines to the meter do not work: see power: wiring")
    if seconds not in rig.energies:
        options = PowerOptions(window_s=seconds, repeats=1)
        with session.recording.aside():
            rig.energies[seconds] = measured(session, meter, options, "HP", None)
    return rig.energies[seconds]


def _supply(rig: Rig) -> Finding:
    window = _energy(rig, rig.effort.window_s).windows[0]
    volts = window.energy_j / window.charge_c if window.charge_c else 0.0
    return Finding(f"{volts:.3f} V", SUPPLY_V[0] <= volts <= SUPPLY_V[1])


def _idle(rig: Rig) -> Finding:
    energy = _energy(rig, rig.effort.window_s)
    if energy.idle_mw is None:
        return Finding("not seen before the window", False)
    text = f"{energy.idle_mw:.3g} mW, {energy.mean_mw:.3g} mW while it infers"
    return Finding(text, 0 < energy.idle_mw <= min(MOST_IDLE_MW, energy.mean_mw))


def _sleep(rig: Rig) -> Finding:
    _meter(rig)
    raise NotApplicable("the firmware of this package has no call that puts the board to sleep")


def _product(rig: Rig) -> Finding:
    window = _energy(rig, rig.effort.window_s).windows[0]
    assert isinstance(window, Window)
    mean_a = window.charge_c / window.seconds
    product = window.mean_v * mean_a * window.seconds
    share = window.energy_j / product - 1 if product else 1.0
    text = f"{1e3 * window.energy_j:.4g} mJ, voltage x current x time {1e3 * product:.4g} mJ"
    return Finding(f"{text} ({100 * share:+.2f} %)", abs(share) <= ENERGY_SHARE)


def _lengths(rig: Rig) -> Finding:
    short, long = (_energy(rig, rig.effort.window_s * factor) for factor in (1, 2))
    share = long.uj / short.uj - 1
    text = f"{short.uj:.4g} µJ and {long.uj:.4g} µJ an inference"
    return Finding(f"{text} ({100 * share:+.2f} %)", abs(share) <= WINDOWS_SHARE)


CHECKS = (
    Check(
        "power: wiring",
        "trigger, In0 and In1 work",
        "connect the lines that `autodeploy boards` lists; ground to ground",
        _wiring,
    ),
    Check(
        "power: supply",
        f"{SUPPLY_V[0]:g} to {SUPPLY_V[1]:g} V",
        "set the supply behind the meter; look at its jumper",
        _supply,
    ),
    Check(
        "power: idle",
        f"seen, less than while it infers, at most {MOST_IDLE_MW:g} mW",
        "take the jumpers of LEDs and of the debug chip off the measured supply",
        _idle,
    ),
    Check("power: sleep", "less than idle", "", _sleep),
    Check(
        "power: energy",
        f"voltage x current x time within {100 * ENERGY_SHARE:g} %",
        "the supply swings within the window: shorten its wires, or take a stiffer one",
        _product,
    ),
    Check(
        "power: two lengths",
        f"the energy of an inference from both within {100 * WINDOWS_SHARE:g} %",
        "something else draws power in the windows: look at the waveform",
        _lengths,
    ),
)
