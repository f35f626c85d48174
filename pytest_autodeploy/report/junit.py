"""JUnit properties of a test."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pytest_autodeploy.report.text import one_line

Property = tuple[str, str | float]

_UNIT_SUFFIXES = {"B": "_bytes", "1": "", "1/s": ""}
_FACTS = {
    "model": ("id", "name", "sha256", "operators", "parameters"),
    "board": ("id", "kind", "build_id", "engine", "engine_version", "clock", "clock_hz"),
}


def properties(record: Mapping[str, Any]) -> list[Property]:
    """The properties of a record: facts, hashes and every measurement.

    Names are stable: ``autodeploy.model_sha256``, ``autodeploy.board_id``, ``autodeploy.source``
    (of what ran on the board), ``autodeploy.seed``, ``autodeploy.failure_class`` of a failure,
    ``autodeploy.baseline`` (the state of the comparison), ``autodeploy.output_agreement`` and
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
    if agreement := record.get("agreement"):
        found.append(("autodeploy.output_agreement", "pass" if agreement["passed"] else "fail"))
    for item in record.get("measurements", ()):
        name = _property_name(item)
        found += [(name, _plain(item["value"])), (f"{name}.source", item["source"])]
    return found


def _property_name(measurement: Mapping[str, Any]) -> str:
    unit = measurement["unit"]
    suffix = _UNIT_SUFFIXES.get(unit, f"_{unit}")
    return "autodeploy." + re.sub(r"[^A-Za-z0-9_]", "_", measurement["name"] + suffix)


def _plain(value: Any) -> str | float:
    return value if type(value) in (int, float) else one_line(value)
