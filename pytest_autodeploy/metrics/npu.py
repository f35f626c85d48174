"""NPU estimates: holding one against a budget; what fails names the worst operators."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from pytest_autodeploy.base.measurement import Measurement
from pytest_autodeploy.base.text import one_line
from pytest_autodeploy.base.units import group_digits, percent, si
from pytest_autodeploy.limits.declared import Declared
from pytest_autodeploy.limits.npu import DECLARATION, NpuBudget
from pytest_autodeploy.metrics.ledger import Row, Status
from pytest_autodeploy.metrics.metric import Metric, row
from pytest_autodeploy.metrics.subject import NotJudged, Subject
from pytest_autodeploy.npu.measurements import measurements_of
from pytest_autodeploy.npu.results import Estimate, OperatorEstimate, Unavailable, Value

_WORST = 5
_UNITS = {"npu_total_cycles": "1", "npu_time": "us", "npu_sram": "B", "npu_flash": "B"}

Cost = Callable[[OperatorEstimate], float]


class Npu(Metric):
    """Vela's estimate of the test."""

    declaration = DECLARATION

    def provide(self, subject: Subject) -> None:
        """An estimate comes with its fixture."""
        if subject.estimate is None:
            raise NotJudged(
                "the test has no estimate", hint="add the fixture npu_estimate to its arguments"
            )

    def measurements(self, subject: Subject) -> list[Measurement]:
        """What Vela estimates."""
        return measurements_of(subject.estimate) if subject.estimate else []

    def measured(self, subject: Subject, _declared: Declared) -> bool:
        """Whether the test has an estimate."""
        return subject.estimate is not None

    def rows(self, subject: Subject, declared: Declared) -> Iterator[Row]:
        """A row for each bound of the budget."""
        assert subject.estimate is not None
        yield from judge(subject.estimate, declared)


def judge(estimate: Estimate, declared: Declared) -> list[Row]:
    """One row per limit of the budget, in its order; none when it is for another accelerator.

    Cycles, time and memories fail when nothing runs on the NPU; otherwise a value that is
    unavailable is not judged.
    """
    if declared.limit.accelerator not in (None, estimate.accelerator):
        return []
    return [
        row(
            declared,
            _STATUS[passed],
            _text(estimate, text, declared, passed),
            measurement,
            "not judged" if passed is None else "over a limit",
        )
        for passed, text, measurement in _judged(estimate, declared.limit)
    ]


_STATUS: Mapping[bool | None, Status] = {True: "pass", False: "FAIL", None: "NOT JUDGED"}

Judged = tuple[bool | None, str, Measurement | None]


def _judged(estimate: Estimate, budget: NpuBudget) -> Iterator[Judged]:
    totals = estimate.totals
    figures: Sequence[tuple[str, float | None, Value, Cost, str]] = (
        ("npu_total_cycles", budget.cycles, totals.total_cycles, _cycles, "cycles"),
        ("npu_time", budget.us, totals.time_us, _cycles, "cycles"),
        ("npu_sram", budget.sram_bytes, totals.sram_bytes, _staging, "B of SRAM at once"),
        ("npu_flash", budget.flash_bytes, totals.flash_bytes, _constants, "B of constants"),
    )
    for name, limit, value, cost, unit in figures:
        if limit is not None:
            yield _upper(estimate, name, limit, value, _worst(estimate, cost, unit))
    if budget.min_coverage is not None:
        yield _coverage(estimate, budget.min_coverage)
    if budget.forbidden is not None:
        yield _placement(estimate, budget.forbidden)


def _upper(estimate: Estimate, name: str, limit: float, value: Value, worst: str) -> Judged:
    label = name.replace("_", " ")
    if isinstance(value, Unavailable):
        passed = False if estimate.status == "cpu_only" else None
        text = f"{label} is {value}\n  limit   {_exact(limit, _UNITS[name])}\n{_on_cpu(estimate)}"
        return passed, text.rstrip(), None
    measurement, unit = _measurement(estimate, name), _UNITS[name]
    if value <= limit:
        text = f"{_exact(value, unit)}, limit {_exact(limit, unit)}"
        return True, text + (f" ({estimate.scope})" if estimate.scope else ""), measurement
    over = value - limit
    source = ", ".join(part for part in (measurement.source, measurement.note) if part)
    text = (
        f"{label} is over its limit\n"
        f"  limit   {_exact(limit, unit)}\n"
        f"  value   {_exact(value, unit)} ({source})\n"
        f"  over    {_exact(over, unit)} ({percent(over, limit)})\n{worst}"
    )
    return False, text.rstrip(), measurement


def _coverage(estimate: Estimate, least: float) -> Judged:
    coverage = estimate.coverage
    share = percent(coverage.share, 1)
    text = f"{share} on the NPU ({coverage}), at least {percent(least, 1)}"
    passed = coverage.share >= least
    plain = _measurement(estimate, "npu_coverage")
    if passed:
        return True, text, plain
    text = (
        f"npu coverage is below its limit\n"
        f"  limit   {percent(least, 1)} of the operators\n"
        f"  value   {share}, {coverage} (estimated)\n{_on_cpu(estimate)}"
    )
    return False, text.rstrip(), plain


def _placement(estimate: Estimate, names: Sequence[str]) -> Judged:
    """Without operators of the model, only whether any operation is on the CPU can be judged."""
    asked = f"no {', '.join(names) or 'operator'} on the CPU"
    if not estimate.operators and names and estimate.coverage.cpu:
        return None, f"which operators are on the CPU is unknown: {estimate.degraded[0]}", None
    found = [each for each in estimate.cpu_operators if not names or each.name.upper() in names]
    if not (found or (not estimate.operators and estimate.coverage.cpu)):
        return True, asked, None
    text = (
        "operators are on the CPU\n"
        f"  limit   {asked}\n"
        f"  value   {estimate.coverage} on the NPU (estimated)\n{_on_cpu(estimate, found)}"
    )
    return False, text.rstrip(), None


def _worst(estimate: Estimate, cost: Cost, unit: str) -> str:
    """The operators that cost most, as lines; layers where Vela's operators cannot be told."""
    ranked = sorted(estimate.operators, key=cost, reverse=True)[:_WORST]
    total = sum(map(cost, estimate.operators))

    def share(each: OperatorEstimate) -> str:
        """Buffers share their memory, so only what adds up has a share."""
        return "" if cost is _staging else f", {percent(cost(each), total)}"

    lines = [
        f"    #{each.index} {each.name}  {group_digits(cost(each))} {unit}"
        f"{share(each)}  {one_line(each.output, 60)}"
        for each in ranked
        if cost(each)
    ]
    if not lines and unit == "cycles":
        layers = sorted(estimate.layers, key=lambda layer: -(layer.cycles or 0))[:_WORST]
        lines = [
            f"    {each.operator}  {group_digits(each.cycles)} cycles  {one_line(each.name, 60)}"
            for each in layers
            if each.cycles
        ]
    return "\n".join(["  worst operators", *lines]) if lines else ""


def _on_cpu(estimate: Estimate, shown: Sequence[OperatorEstimate] | None = None) -> str:
    operators = estimate.cpu_operators if shown is None else shown
    lines = [
        f"    #{each.index} {each.name}  {one_line(each.output, 60)}: {one_line(each.reason, 120)}"
        for each in operators[:_WORST]
    ]
    if len(operators) > _WORST:
        lines.append(f"    and {len(operators) - _WORST} more")
    return "\n".join(["  on the CPU", *lines]) if lines else ""


def _text(estimate: Estimate, text: str, declared: Declared, passed: bool | None) -> str:
    if passed:
        return text.partition("\n")[0]
    first, _, rest = text.partition("\n")
    head = (
        f"{estimate.model} on {estimate.accelerator}: {first}\n"
        f"  declared {declared.text} by {declared.origin}\n"
    )
    return (head + rest).rstrip()


def _measurement(estimate: Estimate, name: str) -> Measurement:
    return next(each for each in measurements_of(estimate) if each.name == name)


def _exact(value: float, unit: str) -> str:
    return group_digits(value) if unit == "1" else si(value, unit)


def _cycles(operator: OperatorEstimate) -> float:
    return operator.cycles or 0


def _staging(operator: OperatorEstimate) -> float:
    return operator.staging_bytes or 0


def _constants(operator: OperatorEstimate) -> float:
    return operator.constant_bytes
