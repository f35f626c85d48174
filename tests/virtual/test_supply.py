"""The power meter of a virtual EVB: it sees the pins and the modelled power of the machine."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_autodeploy.catalog.chips import find_chip
from pytest_autodeploy.catalog.supply import SUPPLY_V, power_states
from pytest_autodeploy.power.handshake import Handshake
from pytest_autodeploy.power.simulated import RATE_HZ, SimulatedMeter
from pytest_autodeploy.power.window import Window, WindowFinder
from pytest_autodeploy.rpc.messages import PowerOutcome
from pytest_autodeploy.virtual.supply import Stretch, Supply, Wires
from pytest_autodeploy.virtual.timebase import FS, Timebase
from tests.helpers.driven_machine import Driven
from tests.helpers.emulation import needs_compiler
from tests.helpers.virtual_machine import Bench, assemble, on_chip

HZ = 250_000
LOOPS = 25_000
WIRES = Wires(in0=26, in1=24, trigger=25)
HANDSHAKE = f"""
 ldr r4, =0x40010000
1: ldr r0, [r4, #0x80]
 tst r0, #{1 << 25}
 beq 1b
 ldr r1, ={1 << 26 | 1 << 24}
 str r1, [r4, #0x98]
2: ldr r0, [r4, #0x80]
 tst r0, #{1 << 25}
 bne 2b
 str r1, [r4, #0xA4]
 ldr r2, ={LOOPS}
3: subs r2, #1
 bne 3b
 mov r1, #{1 << 24}
 str r1, [r4, #0x98]
 ldr r2, ={HZ // 20}
4: subs r2, #1
 bne 4b
 str r1, [r4, #0xA4]
5: b 5b
"""
IN_THE_WINDOW = 2 * LOOPS + 3
"""Instructions from the store that begins it to the one that ends it."""


def measured(machine: Bench) -> Window:
    """The window of a machine, as the meter of the run finds it."""
    meter = SimulatedMeter(Driven(machine, WIRES))
    facts = meter.open()
    pins = {"in0": WIRES.in0, "in1": WIRES.in1, "trigger": WIRES.trigger}
    handshake = Handshake(
        meter,
        facts,
        WindowFinder(facts),
        board=Driven.id,
        pins=pins,
        outcome=lambda: PowerOutcome.NONE,
    )
    with meter.streaming() as chunks:
        return handshake.window(chunks, 1.0)


@needs_compiler
def test_the_window_lasts_as_long_as_its_instructions() -> None:
    pytest.importorskip("unicorn")
    chip = find_chip("apollo3p")
    assert chip is not None
    slow = replace(chip, clocks_hz={"LP": HZ, "HP": 2 * HZ})
    window = measured(on_chip(slow, assemble(HANDSHAKE), wires=WIRES))
    assert window.seconds == pytest.approx(IN_THE_WINDOW / HZ, abs=2 / RATE_HZ)
    assert window.energy_j == pytest.approx(power_states(HZ).running * window.seconds, rel=1e-3)


def recorded(supply: Supply, seconds: float) -> list[Stretch]:
    """What the meter gets of a span that has passed."""
    delivered: list[list[Stretch]] = []
    supply.deliver = delivered.append
    assert supply.want(seconds)
    supply.serve()
    return delivered[0] if delivered else []


def test_a_span_has_what_changed_in_it_and_the_rest_comes_with_the_next() -> None:
    time = Timebase(1_000_000)
    supply = Supply(time, WIRES)
    time.sleep(FS)  # before the meter streams
    supply.stream(True)
    time.execute(250_000)
    supply.set_outputs(1 << 26)
    time.execute(250_000)
    supply.set_asleep(True)
    time.sleep(FS)
    states = power_states(1_000_000)
    assert recorded(supply, 1.0) == [
        [0.25, 0, states.running, SUPPLY_V],
        [0.25, 1, states.running, SUPPLY_V],
        [0.5, 1, states.sleeping, SUPPLY_V],
    ]
    assert recorded(supply, 0.5) == [[0.5, 1, states.sleeping, SUPPLY_V]]


def test_a_span_that_is_not_over_is_delivered_when_it_is() -> None:
    time = Timebase(1_000_000)
    supply = Supply(time, WIRES)
    supply.stream(True)
    assert recorded(supply, 1.0) == []
    delivered: list[list[Stretch]] = []
    supply.deliver = delivered.append
    time.execute(1_000_000)
    supply.serve()
    assert [stretch[0] for stretch in delivered[0]] == [1.0]


def test_there_are_no_samples_without_a_stream_or_without_wires() -> None:
    assert not Supply(Timebase(1), WIRES).want(1.0)
    unwired = Supply(Timebase(1), None)
    unwired.stream(True)
    assert not unwired.want(1.0)
