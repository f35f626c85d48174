"""The result of an estimate. What is not available says why; it is never NaN and never 0."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Status = Literal["ok", "partial", "cpu_only"]
"""Everything runs on the NPU, a part does, nothing does."""

Placement = Literal["npu", "cpu", "removed"]
"""Where an operator runs. ``removed``: Vela left it out or merged it into another one."""


@dataclass(frozen=True)
class Unavailable:
    """A value that there is not, and why."""

    reason: str

    def __str__(self) -> str:
        return f"unavailable, because {self.reason}"


Value = float | Unavailable


@dataclass(frozen=True)
class Totals:
    """What one inference costs on the NPU, in cycles of its clock; areas and sizes in bytes.

    ``total_cycles`` are those of an inference; those of the NPU and of the memories overlap.
    ``time_us`` is ``total_cycles / core_clock_hz``. ``macs`` are those that the NPU computes,
    which differ from the model's.
    """

    total_cycles: Value
    npu_cycles: Value
    sram_cycles: Value
    dram_cycles: Value
    on_chip_flash_cycles: Value
    off_chip_flash_cycles: Value
    core_clock_hz: Value
    time_us: Value
    inferences_per_second: Value
    batch_size: Value
    macs: Value
    sram_bytes: Value
    dram_bytes: Value
    on_chip_flash_bytes: Value
    off_chip_flash_bytes: Value
    flash_bytes: Value = field(init=False)
    """Both flashes together, as far as the system has them."""

    def __post_init__(self) -> None:
        areas = (self.on_chip_flash_bytes, self.off_chip_flash_bytes)
        there = [area for area in areas if not isinstance(area, Unavailable)]
        reasons = [area.reason for area in areas if isinstance(area, Unavailable)]
        nothing = Unavailable(" and ".join(dict.fromkeys(reasons)))
        object.__setattr__(self, "flash_bytes", sum(there) if there else nothing)


@dataclass(frozen=True)
class Layer:
    """One row of Vela's per-layer CSV, an operation that Vela scheduled; None: not available.

    ``operator`` is the one that it comes from, in Vela's words; ``operator_index`` that of the
    model. An operation on the CPU (``target``) has no figures, for Vela knows none and writes 0;
    one that is fused into another has no cycles of its own and hence no utilisation.
    """

    index: int
    operator: str
    nng_operator: str
    target: str
    staging_bytes: float | None
    peak_percent: float | None
    cycles: float | None
    cycles_percent: float | None
    npu_cycles: float | None
    sram_cycles: float | None
    dram_cycles: float | None
    on_chip_flash_cycles: float | None
    off_chip_flash_cycles: float | None
    macs: float | None
    macs_percent: float | None
    utilization_percent: float | None
    name: str
    operator_index: int | None = None


@dataclass(frozen=True)
class OperatorEstimate:
    """An operator of the model and all layers that come from it.

    ``cycles`` and ``npu_macs`` are sums, ``staging_bytes`` is the largest; None on the CPU, of
    which Vela knows nothing. ``macs`` are those of the model, None when unknown.
    ``constant_bytes`` are its weights and other constants as they are in the model. ``reason``: why
    it runs on the CPU.
    """

    index: int
    name: str
    output: str
    placement: Placement
    layers: int
    cycles: float | None
    npu_cycles: float | None
    staging_bytes: float | None
    npu_macs: float | None
    macs: int | None
    constant_bytes: int
    reason: str = ""


@dataclass(frozen=True)
class Coverage:
    """How much of the model runs on the NPU.

    ``npu`` and ``cpu`` count ``basis``: operators of the model, without the ``removed`` ones; or
    scheduled operations, when these cannot be told. ``macs`` is the share of the model's MACs.
    """

    basis: Literal["operators", "scheduled operations"]
    npu: int
    cpu: int
    removed: int
    macs: Value
    share: float = field(init=False)
    """The share of operators that runs on the NPU, 0 to 1."""
    text: str = field(init=False)

    def __post_init__(self) -> None:
        whole = self.npu + self.cpu
        object.__setattr__(self, "share", self.npu / whole if whole else 0.0)
        object.__setattr__(self, "text", f"{self.npu} of {whole} {self.basis}")

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Provenance:
    """What an estimate depends on: Vela, the model, the configuration file and the arguments."""

    vela_version: str
    core: str
    model_sha256: str
    config: str
    config_sha256: str
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class Estimate:
    """What Vela estimates of a ``model``, by its name, on an ``accelerator``.

    ``system_config`` and ``memory_mode`` are sections of Vela's configuration file. ``status``:
    "ok" when everything runs on the NPU, "partial", or "cpu_only". ``totals`` are in cycles and
    bytes, ``coverage`` is how much runs on the NPU. ``warnings`` are Vela's and of this
    plugin; ``provenance`` is what the estimate depends on, versions and digests.

    ``operators`` is empty when the layers cannot be told apart by operator, ``layers`` when their
    file cannot be read; ``degraded`` says so, and which sums do not agree. ``cells`` is Vela's
    summary as it wrote it. ``cached``: Vela was not started.
    """

    model: str
    accelerator: str
    system_config: str
    memory_mode: str
    status: Status
    totals: Totals
    layers: tuple[Layer, ...] = field(repr=False)
    operators: tuple[OperatorEstimate, ...] = field(repr=False)
    coverage: Coverage
    warnings: tuple[str, ...]
    degraded: tuple[str, ...]
    provenance: Provenance
    cells: Mapping[str, str] = field(repr=False, hash=False)
    cached: bool = field(default=False, compare=False)
    scope: str = field(init=False)
    """What the figures are of, when that is not the whole model."""

    def __post_init__(self) -> None:
        text = {"partial": "NPU part only", "cpu_only": "nothing runs on the NPU", "ok": ""}
        what = text[self.status]
        object.__setattr__(self, "scope", f"{what}, {self.coverage}" if what else "")

    @property
    def cpu_operators(self) -> tuple[OperatorEstimate, ...]:
        """The operators that stay on the CPU."""
        return tuple(operator for operator in self.operators if operator.placement == "cpu")
