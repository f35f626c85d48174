"""JUnit properties of a test."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from pytest_autodeploy.base.text import one_line
from pytest_autodeploy.report.agreement import ERRORS
from pytest_autodeploy.report.attempts import again_of, attempt_text

if TYPE_CHECKING:
    from pytest_autodeploy.base.measurement import Measurement
    from pytest_autodeploy.metrics.record import TestRecord
    from pytest_autodeploy.metrics.records.agreement import OutputRecord
    from pytest_autodeploy.metrics.records.diagnosis import ExplanationRecord

Property = tuple[str, str | float]

_UNIT_SUFFIXES = {"B": "_bytes", "1": "", "1/s": ""}


def properties(record: TestRecord) -> list[Property]:
    """The properties of a record: facts, hashes and every measurement.

    Names are stable: ``autodeploy.model_sha256``, ``autodeploy.board_id``, ``autodeploy.source``
    (of what ran on the board), ``autodeploy.seed``, ``autodeploy.failure_class`` of a failure,
    ``autodeploy.flaky`` (the attempt that passed, after earlier ones failed),
    ``autodeploy.second_chance`` (second board, power cycle or fresh start, after the board broke)
    and ``autodeploy.earlier`` (how it broke),
    ``autodeploy.baseline`` (the state of the comparison), ``autodeploy.state`` (carry or reset, of
    a model with state), ``autodeploy.accuracy_reference`` (the PC's path),
    ``autodeploy.decisions_changed``, ``autodeploy.artifacts`` (how many files were made) and
    ``autodeploy.artifacts_left_out``, ``autodeploy.output_agreement``,
    ``autodeploy.output_<number>_<error>`` (max_abs_real, mean_abs_real, rmse_real, relative_l2,
    cosine and nse against the nearest path, where they are defined), ``autodeploy.divergence``
    (why outputs differ: board, runtime, pc, unstable or open), ``autodeploy.divergence_operator``
    (where that starts, such as ``7 CONV_2D``), on request ``autodeploy.layer_7_rmse`` and other
    figures of every operator, and
    ``autodeploy.<measurement>_<unit>`` such as ``autodeploy.latency_median_us``, each measurement
    followed by its own ``....source``. Names of models and operators are values only.
    """
    found = [*_facts(record)]
    if record.seed is not None:
        found.append(("autodeploy.seed", record.seed))
    if record.flaky:
        found.append(("autodeploy.flaky", len(record.attempts) + 1))
    if again := again_of(record.attempts):
        first = "; ".join(map(attempt_text, record.attempts))
        found += [("autodeploy.second_chance", again), ("autodeploy.earlier", first)]
    if record.failure_class:
        found.append(("autodeploy.failure_class", record.failure_class))
    if comparison := record.comparison:
        found.append(("autodeploy.baseline", comparison.state))
    if record.state:
        found.append(("autodeploy.state", record.state))
    if accuracy := record.accuracy:
        found.append(("autodeploy.accuracy_reference", accuracy.reference))
        found.append(("autodeploy.decisions_changed", len(accuracy.changed)))
    if explanation := record.explanation:
        found += [*_divergence(explanation), *_of_layers(explanation)]
    if made := record.artifacts:
        left_out = "; ".join(each.what for each in made.left_out)
        found.append(("autodeploy.artifacts", len(made.files)))
        found.append(("autodeploy.artifacts_left_out", one_line(left_out)))
    if agreement := record.agreement:
        found.append(("autodeploy.output_agreement", "pass" if agreement.passed else "fail"))
        found += _output_errors(agreement.outputs)
    for item in record.measurements:
        name = _property_name(item)
        found += [(name, item.value), (f"{name}.source", one_line(item.source))]
    return found


def _facts(record: TestRecord) -> Iterator[Property]:
    model, board = record.model, record.board
    facts = {
        "model_id": model.id,
        "model_name": model.name,
        "model_sha256": model.sha256,
        "model_operators": model.operators,
        "model_parameters": model.parameters,
        "board_id": board.id,
        "board_kind": board.kind,
        "board_build_id": board.build_id,
        "board_engine": board.engine,
        "board_engine_version": board.engine_version,
        "board_model_memory": board.model_memory,
        "board_arena_memory": board.arena_memory,
        "board_image_sha256": board.image_sha256,
        "board_clock": board.clock,
        "board_clock_hz": board.clock_hz,
        "board_recorded": board.recorded,
        "board_rig_name": board.rig_name,
        "board_serial": board.serial,
        "source": board.source,
    }
    for name, value in facts.items():
        if value is not None:
            yield f"autodeploy.{name}", one_line(value) if isinstance(value, str) else value


def _output_errors(outputs: Sequence[OutputRecord]) -> Iterator[Property]:
    for number, output in enumerate(outputs):
        for name, error in ERRORS.items():
            if (value := error(output)) is not None:
                yield f"autodeploy.output_{number}_{name}", value


def _divergence(explanation: ExplanationRecord) -> list[Property]:
    if explanation.cause == "agree":
        return []
    found: list[Property] = [("autodeploy.divergence", explanation.cause)]
    if operator := explanation.operator:
        text = f"{operator.position} {operator.operator}"
        found.append(("autodeploy.divergence_operator", one_line(text)))
    return found


def _of_layers(explanation: ExplanationRecord) -> list[Property]:
    """Of each operator how far the sides are apart, what it adds, and the metrics of its output."""
    found: list[Property] = []
    for layer in explanation.layers if explanation.requested else ():
        suffix = "_steps" if layer.unit == "steps" else ""
        figures = {f"apart{suffix}": layer.apart, f"adds{suffix}": layer.adds}
        figures |= asdict(layer.metrics) if layer.metrics else {}
        name = f"autodeploy.layer_{layer.position}"
        found += [(f"{name}_{key}", value) for key, value in figures.items() if value is not None]
    return found


def _property_name(item: Measurement) -> str:
    suffix = _UNIT_SUFFIXES.get(item.unit, f"_{item.unit}")
    return "autodeploy." + re.sub(r"[^A-Za-z0-9_]", "_", item.name + suffix)
