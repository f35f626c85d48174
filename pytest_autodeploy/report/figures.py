"""The key figures of a model on a board, in the order of Ambiq's characterization report."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from pytest_autodeploy.base.figure import Figure
from pytest_autodeploy.base.text import one_line
from pytest_autodeploy.base.units import in_full, si
from pytest_autodeploy.report.agreement import agreement_text
from pytest_autodeploy.report.energy import ENERGY_NAMES, energy_figures

if TYPE_CHECKING:
    from pytest_autodeploy.base.measurement import Measurement
    from pytest_autodeploy.metrics.records.agreement import AgreementRecord
    from pytest_autodeploy.metrics.records.facts import BoardFacts, ModelFacts
    from pytest_autodeploy.metrics.result import Recorded

    ByName = Mapping[str, Measurement]

_LABELS = {
    "macs": "Total estimated MACs",
    "profile_time_first": "Profiled first inference",
    "profile_cycles": "Total CPU cycles",
    "profile_cycles_first": "Total CPU cycles, first",
    "layers": "Total model layers",
    "macs_per_second": "MACs per second",
    "cycles_per_mac": "Cycles per MAC",
    "arena_used": "Tensor arena used",
    "arena_tuned": "Tensor arena tuned",
    "model_size": "Model size",
    "accuracy": "Accuracy",
    "accuracy_pc": "Accuracy on the PC",
    "accuracy_drop": "Accuracy drop",
    "rmse": "RMSE",
    "rmse_pc": "RMSE on the PC",
    "r2": "R²",
    "r2_pc": "R² on the PC",
    "r2_drop": "R² drop",
}
_OF_LATENCY = ("latency_median", "latency_first", "profile_time")
_ELSEWHERE = (
    *("latency_p95", "latency_max", "inferences_timed", "arena_given", "output_distance"),
    *("input_sensitivity", "input_sensitivity_1_step", "input_sensitivity_channel"),
)
_NEEDS_MACS = ("macs", "macs_per_second", "cycles_per_mac")
_STATES = {
    "carry": "carried from inference to inference",
    "reset": "reset before each inference",
}
_UNWANTED = ("watchdog", "brown out", "fault")
"""Causes of a start that nobody asked for."""


def figures(result: Recorded) -> list[Figure]:
    """The figures of a record or a merged result; what was not measured is left out.

    MACs, and what derives from them, are ``unknown`` with the reason when operators of the model
    are not modelled.
    """
    by_name = _by_name(result)
    lines = [*_origin(result.model), *_latency(result, by_name)]
    for name in _LABELS:
        found = [each for each in by_name if _without_top_k(each) == name]
        if found:
            lines += [_figure(_label(each), by_name[each], _note(each, by_name)) for each in found]
        elif name in _NEEDS_MACS and result.model.unknown_operators:
            lines.append(_unknown(name, result.model))
    lines += energy_figures(result)
    lines += [
        _figure(_label(name), item)
        for name, item in by_name.items()
        if _without_top_k(name) not in (*_LABELS, *_OF_LATENCY, *_ELSEWHERE, *ENERGY_NAMES)
    ]
    if result.state:
        lines.append(Figure("State of the model", _STATES[result.state]))
    return lines


def title(result: Recorded) -> str:
    """Name a result: model, board and kind of board."""
    model, board = result.model, result.board
    name = one_line(model.id or model.name or "unknown model")
    if not board.id:
        return f"{name}, no board"
    kind = f" ({board.kind})" if board.kind else ""
    return f"{name} on {one_line(board.label)}{kind}"


def _origin(model: ModelFacts) -> list[Figure]:
    """How the file was made, and which part of it is tested, where that is not plain."""
    lines = [Figure("Model", f"{model.origin}: {model.file or model.path}")] if model.origin else []
    return [*lines, Figure("Tested part", one_line(model.tested))] if model.tested else lines


def agreement_figure(result: Recorded, agreement: AgreementRecord) -> Figure:
    """The output agreement as one line."""
    distance = _by_name(result).get("output_distance")
    source = distance.source if distance else result.board.source or ""
    return Figure("Output agreement", agreement_text(agreement), source)


def latency_of(result: Recorded) -> Measurement | None:
    """The measurement that stands for the latency: the median, else the first inference."""
    by_name = _by_name(result)
    return next((by_name[name] for name in _OF_LATENCY if name in by_name), None)


def model_text(model: ModelFacts) -> str:
    """What the file says, in words, as far as it is known."""
    parts = [model.path]
    if model.parameters is not None:
        parts.append(f"{si(model.parameters, '1')} parameters")
    if model.sha256:
        parts.append(f"SHA-256 {model.sha256}")
    return ", ".join(one_line(part) for part in parts if part)


def ran_on(board: BoardFacts) -> str:
    """Core, clock, engine and faults of a board in words, as far as they are known."""
    clock = f"{board.clock or ''} {si(board.clock_hz, 'Hz')}" if board.clock_hz is not None else ""
    engine = f"{board.engine or ''} {board.engine_version or ''}"
    parts = (
        *(board.recorded or "", board.core or "", clock, engine, _memories(board), _image(board)),
        *(*faults_of(board), *troubles_of(board)),
    )
    return ", ".join(one_line(part, 120) for part in parts if part.strip())


def troubles_of(board: BoardFacts) -> Iterator[str]:
    """What was wrong with how the board has started."""
    if board.clock_doubt:
        yield board.clock_doubt
    elif board.failed_step:
        yield f"{board.failed_step} failed at its start"
    if board.reset_cause in _UNWANTED:
        yield f"last started by a {board.reset_cause}"


def _memories(board: BoardFacts) -> str:
    if board.model_loaded and board.model_memory:
        where = f"model loaded over the link into {board.model_memory.upper()}"
        return f"{where}, arena in {board.arena_memory.upper()}" if board.arena_memory else where
    if not (board.model_memory and board.arena_memory):
        return ""
    return f"model in {board.model_memory.upper()}, arena in {board.arena_memory.upper()}"


def _image(board: BoardFacts) -> str:
    """The file that a virtual board runs."""
    return f"image {board.image_sha256[:12]}…" if board.image_sha256 else ""


def _by_name(result: Recorded) -> ByName:
    return {item.name: item for item in result.measurements}


def faults_of(board: BoardFacts) -> Iterator[str]:
    """The faults that a simulated board was given, which its build id ends with."""
    _, injected, faults = (board.build_id or "").partition("injected faults: ")
    if faults:
        yield injected + faults


def _latency(result: Recorded, by_name: ByName) -> list[Figure]:
    headline = latency_of(result)
    if headline is None:
        return []
    if headline.name == "profile_time":
        return [_figure("Profiled latency", headline, "sum of layers")]
    label = f"{result.board.clock} latency" if result.board.clock else "Latency"
    lines = [_figure(label, headline, _latency_note(headline.name, by_name))]
    if "profile_time" in by_name:
        lines.append(_figure("Profiled latency", by_name["profile_time"], "sum of layers"))
    return lines


def _latency_note(headline: str, by_name: ByName) -> str:
    if headline != "latency_median":
        return {"latency_first": "first inference", "profile_time": "sum of layers"}[headline]
    count = by_name.get("inferences_timed")
    parts = [f"warm, median of {si(count.value, '1')}" if count else "warm, median"]
    for name, shown in (("first", in_full), ("p95", si), ("max", si)):
        if item := by_name.get(f"latency_{name}"):
            parts.append(f"{name} {shown(item.value, item.unit)}")
    return ", ".join(parts)


def _note(name: str, by_name: ByName) -> str:
    if name == "arena_used" and "arena_given" in by_name:
        return f"of {si(by_name['arena_given'].value, 'B')} given"
    if name == "arena_tuned":
        return "the model runs in it"
    return "1 KB = 1024 B" if name == "model_size" else ""


def _unknown(name: str, model: ModelFacts) -> Figure:
    if name != "macs":
        return Figure(_LABELS[name], "unknown (needs the MACs)")
    operators = [one_line(operator, 40) for operator in model.unknown_operators]
    plural = "operator" if len(operators) == 1 else "operators"
    shown = ", ".join(operators[:3]) + (", ..." if len(operators) > 3 else "")
    known = model.known_macs
    return Figure(
        _LABELS[name],
        f"unknown ({len(operators)} {plural} not modelled: {shown})",
        note=f"the others have {si(known, '1')}" if known else "",
    )


def _figure(label: str, item: Measurement, note: str = "") -> Figure:
    notes = "; ".join(part for part in (note, item.note) if part)
    value, exact = si(item.value, item.unit), in_full(item.value, item.unit)
    return Figure(
        label, value, item.source, one_line(notes), "" if exact == value else one_line(exact)
    )


def _without_top_k(name: str) -> str:
    return re.sub(r"_top\d+", "", name)


def _label(name: str) -> str:
    if label := _LABELS.get(_without_top_k(name)):
        top_k = re.search(r"_top(\d+)", name)
        return f"{label}, top {top_k[1]}" if top_k else label
    return one_line(name.replace("_", " ").capitalize(), 40)
