"""From what Vela wrote to an Estimate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from pytest_autodeploy.model.graph import Model
from pytest_autodeploy.npu.checks import disagreements, over_the_cache
from pytest_autodeploy.npu.config_file import NpuSystem
from pytest_autodeploy.npu.debug_db import origins, positions
from pytest_autodeploy.npu.errors import NpuEstimateFailed
from pytest_autodeploy.npu.log import operation_counts, reasons, warnings
from pytest_autodeploy.npu.per_layer import LayerTable, parse_layers
from pytest_autodeploy.npu.results import (
    Coverage,
    Estimate,
    Layer,
    OperatorEstimate,
    Provenance,
    Status,
    Totals,
    Unavailable,
    Value,
)
from pytest_autodeploy.npu.roll_up import NoRollUp, assign, coverage_of, roll_up
from pytest_autodeploy.npu.summary import Summary, parse_summary
from pytest_autodeploy.npu.tables import TableError
from pytest_autodeploy.npu.vela import PACKAGE, VelaOutput, vela_arguments

_AREAS = {
    "sram": "SRAM",
    "dram": "DRAM",
    "on_chip_flash": "on-chip flash",
    "off_chip_flash": "off-chip flash",
}


def evaluate(
    model: Model, system: NpuSystem, output: VelaOutput, version: str, *, cached: bool = False
) -> Estimate:
    """The estimate that a run of Vela amounts to.

    A per-layer CSV or debug database that cannot be used degrades it; NpuEstimateFailed is raised
    when there are no totals, or none for what runs on the NPU.
    """
    where = f"{model.name} on {system.accelerator}"
    summary = _summary(output, where)
    parts = _Layers.of(model, output)
    counts = parts.counts | operation_counts(output.log)
    coverage = coverage_of(parts.operators, counts, parts.why_not)
    status = _status(coverage, summary, where)
    return Estimate(
        model=model.name,
        accelerator=system.accelerator,
        system_config=system.system_config,
        memory_mode=system.memory_mode,
        status=status,
        totals=_totals(summary, system, status, coverage),
        layers=parts.layers,
        operators=parts.operators,
        coverage=coverage,
        warnings=(
            *system.assumed,
            *warnings(output.log),
            *over_the_cache(summary),
            *_loops(model),
        ),
        degraded=_degraded(parts, summary, counts),
        provenance=_provenance(model, system, version, parts.core),
        cells=summary.cells,
        cached=cached,
    )


@dataclass(frozen=True)
class _Layers:
    """What could be made of the per-layer CSV; ``why_not`` says what could not.

    ``complete``: all layers of the model are there.
    """

    core: str
    layers: tuple[Layer, ...]
    operators: tuple[OperatorEstimate, ...]
    why_not: str
    complete: bool

    @classmethod
    def of(cls, model: Model, output: VelaOutput) -> _Layers:
        table = LayerTable("unknown", ())
        try:
            table = parse_layers(output.per_layer)
            sources = positions(output.source)
            layers = assign(model, table.layers, origins(output.perf), sources)
        except TableError as error:
            return cls("unknown", (), (), f"the per-layer CSV cannot be read: {error}", False)
        except NoRollUp as reason:
            return cls(table.core, table.layers, (), str(reason), model.subgraphs == 1)
        return cls(table.core, layers, roll_up(model, layers, reasons(output.log)), "", True)

    @property
    def counts(self) -> dict[str, int]:
        """Layers by target, for want of Vela's own counts."""
        targets = [layer.target for layer in self.layers]
        return {name: targets.count(name) for name in ("NPU", "CPU")}


def _degraded(parts: _Layers, summary: Summary, counts: Mapping[str, int]) -> tuple[str, ...]:
    why_not = [parts.why_not] if parts.why_not else []
    if not parts.complete:
        return tuple(why_not)
    return (*why_not, *disagreements(summary, parts.layers, counts))


def _loops(model: Model) -> tuple[str, ...]:
    loops = any(operator.name == "WHILE" and not operator.custom for operator in model.operators)
    return ("Vela counts the body of a WHILE once, however often it runs",) if loops else ()


def _summary(output: VelaOutput, where: str) -> Summary:
    try:
        return parse_summary(output.summary)
    except TableError as error:
        raise NpuEstimateFailed(
            f"{where}: Vela's summary cannot be read: {error}",
            kind="unreadable",
            hint=f"this version of {PACKAGE} may be unknown; 5.0 to 5.2 are known",
        ) from None


def _status(coverage: Coverage, summary: Summary, where: str) -> Status:
    if coverage.cpu and not coverage.npu:
        return "cpu_only"
    if not coverage.npu or not summary.cycles["total"] or not summary.clock_hz:
        raise NpuEstimateFailed(
            f"{where}: Vela estimates no cycles, though {coverage} run on the NPU",
            kind="no cycles",
            hint="the model has no work for an NPU; run it on the CPU",
        )
    return "partial" if coverage.cpu else "ok"


def _totals(summary: Summary, system: NpuSystem, status: Status, coverage: Coverage) -> Totals:
    if status == "cpu_only":
        nothing = Unavailable("nothing runs on the NPU")
        return Totals(*[nothing for field in fields(Totals) if field.init])
    cycles, clock = summary.cycles["total"] or 0, summary.clock_hz or 0
    access = {f"{area}_cycles": _area(area, summary.cycles, system) for area in _AREAS}
    used = {f"{area}_bytes": _area(area, summary.used_bytes, system) for area in _AREAS}
    throughput: Value = clock / cycles
    if status == "partial":
        throughput = Unavailable(f"Vela knows no time for the CPU, and the NPU runs {coverage}")
    return Totals(
        total_cycles=cycles,
        npu_cycles=_known(summary.cycles["npu"]),
        core_clock_hz=clock,
        time_us=1e6 * cycles / clock,
        inferences_per_second=throughput,
        batch_size=_known(summary.batch),
        macs=_known(summary.macs),
        **access,
        **used,
    )


def _area(area: str, values: Mapping[str, float | None], system: NpuSystem) -> Value:
    if area not in system.memories:
        return Unavailable(f"{system.system_config} has no {_AREAS[area]}")
    return _known(values[area])


def _known(value: float | None) -> Value:
    return Unavailable("Vela gives no value") if value is None else value


def _provenance(model: Model, system: NpuSystem, version: str, core: str) -> Provenance:
    return Provenance(
        vela_version=version,
        core=core,
        model_sha256=model.sha256,
        config=system.name,
        config_sha256=system.sha256,
        arguments=vela_arguments(system),
    )
