"""JUnit properties of a test."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_autodeploy.base.text import one_line

Property = tuple[str, str | float]

_UNIT_SUFFIXES = {"B": "_bytes", "1": "", "1/s": ""}
_OUTPUT_ERRORS = ("max_abs_real", "mean_abs_real", "rmse_real", "relative_l2", "cosine", "nse")
_FACTS = {
    "model": ("id", "name", "sha256", "operators", "parameters"),
    "board": ("id", "kind", "build_id", "engine", "engine_version", "clock", "clock_hz"),
}


def properties(record: Mapping[str, Any]) -> list[Property]:
    """The properties of a record: facts, hashes and every measurement.

    Names are stable: ``autodeploy.model_sha256``, ``autodeploy.board_id``, ``autodeploy.source``
    (of what ran on the board), ``autodeploy.seed``, ``autodeploy.failure_class`` of a failure,
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
    found: list[Property] = []
    for part, keys in _FACTS.items():
        facts = record[part]
        found += [(f"autodeploy.{part}_{key}", _plain(facts[key])) for key in keys if key in facts]
    if "source" in record["board"]:
        found.append(("autodeploy.source", record["board"]["source"]))
    if record.get("seed") is not None:
        found.append(("autodeploy.seed", _plain(record["seed"])))
    if record.get("failure_class"):
        found.append(("autodeploy.failure_class", record["failure_class"]))
    if comparison := record.get("comparison"):
        found.append(("autodeploy.baseline", comparison["state"]))
    if record.get("state"):
        found.append(("autodeploy.state", record["state"]))
    if accuracy := record.get("accuracy"):
        found.append(("autodeploy.accuracy_reference", accuracy["reference"]))
        found.append(("autodeploy.decisions_changed", len(accuracy["changed"])))
    if explanation := record.get("explanation"):
        found += [*_divergence(explanation), *_of_layers(explanation)]
    if made := record.get("artifacts"):
        left_out = "; ".join(each["what"] for each in made["left_out"])
        found.append(("autodeploy.artifacts", len(made["files"])))
        found.append(("autodeploy.artifacts_left_out", one_line(left_out)))
    if agreement := record.get("agreement"):
        found.append(("autodeploy.output_agreement", "pass" if agreement["passed"] else "fail"))
        found += _output_errors(agreement["outputs"])
    for item in record.get("measurements", ()):
        name = _property_name(item)
        found += [(name, _plain(item["value"])), (f"{name}.source", item["source"])]
    return found


def _output_errors(outputs: Sequence[Mapping[str, Any]]) -> Iterator[Property]:
    for number, output in enumerate(outputs):
        for name in _OUTPUT_ERRORS:
            if output[name] is not None:
                yield f"autodeploy.output_{number}_{name}", _plain(output[name])


def _divergence(explanation: Mapping[str, Any]) -> list[Property]:
    if explanation["cause"] == "agree":
        return []
    found: list[Property] = [("autodeploy.divergence", explanation["cause"])]
    if operator := explanation["operator"]:
        words = f"{operator['position']} {operator['operator']}"
        found.append(("autodeploy.divergence_operator", one_line(words)))
    return found


def _of_layers(explanation: Mapping[str, Any]) -> list[Property]:
    """Of each operator how far the sides are apart, what it adds, and the metrics of its output."""
    found: list[Property] = []
    for layer in explanation["layers"] if explanation["requested"] else ():
        suffix = "_steps" if layer["unit"] == "steps" else ""
        figures = {f"{name}{suffix}": layer[name] for name in ("apart", "adds")}
        figures |= layer["metrics"] or {}
        name = f"autodeploy.layer_{layer['position']}"
        found += [(f"{name}_{key}", value) for key, value in figures.items() if value is not None]
    return found


def _property_name(measurement: Mapping[str, Any]) -> str:
    unit = measurement["unit"]
    suffix = _UNIT_SUFFIXES.get(unit, f"_{unit}")
    return "autodeploy." + re.sub(r"[^A-Za-z0-9_]", "_", measurement["name"] + suffix)


def _plain(value: Any) -> str | float:
    return value if type(value) in (int, float) else one_line(value)
