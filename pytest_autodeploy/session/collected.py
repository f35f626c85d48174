"""What a test has measured so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_autodeploy.limits.energy import Mode
    from pytest_autodeploy.profile.records import LayerProfile
    from pytest_autodeploy.session.energy import Energy
    from pytest_autodeploy.session.labelled import LabelledRun
    from pytest_autodeploy.session.measured import Latency, MemoryUse, RunResult, TunedArena


@dataclass
class Measured:
    """What a test has measured so far through its session."""

    run: RunResult | None = None
    labelled: LabelledRun | None = None
    latency: Latency | None = None
    profile: LayerProfile | None = None
    first_profile: LayerProfile | None = None
    memory: MemoryUse | None = None
    arena: TunedArena | None = None
    power: dict[Mode, Energy] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)
