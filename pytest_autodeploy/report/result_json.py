"""The JSON of a result, in the form of ``result.schema.json``: writing it, and reading it back."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from pytest_autodeploy.base.errors import ResultsError
from pytest_autodeploy.base.json_text import indented
from pytest_autodeploy.base.numbers import finite_data
from pytest_autodeploy.metrics.result import SCHEMA, Result

SCHEMA_FILE = Path(__file__).with_name("result.schema.json")

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_NUMBER_OR_NULL = {"type": ["number", "null"]}
"""Of a measurement whose value is not finite, which JSON has no number for."""


def json_text(result: Result) -> str:
    """Render a result as JSON, keys in order; what is not there is null.

    Everything that differs between two equal runs (times, port, command) stands under ``run`` and
    nowhere else. Numbers that are not finite become null.
    """
    import msgspec

    plain = finite_data(msgspec.to_builtins(result))
    return indented(plain, 2, sort_keys=True, allow_nan=False) + "\n"


def parse_result(text: str, name: str) -> Result:
    """Read what ``json_text`` wrote; ``name`` is the file in errors. Raises ResultsError.

    A measurement that was not finite comes back as NaN.
    """
    import msgspec

    try:
        plain = json.loads(text)
        version = plain["schema"]
        if version == SCHEMA:
            return msgspec.convert(_with_nan(plain), Result)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ResultsError(f"{name} is no result: {error}") from None
    raise ResultsError(
        f"{name} has schema {version}, this version reads {SCHEMA}",
        hint="run the tests again, or read it with the version that wrote it",
    )


def _with_nan(plain: dict[str, Any]) -> dict[str, Any]:
    of_verdicts = [verdict["measurement"] for verdict in plain["verdicts"]]
    for item in [*plain["measurements"], *of_verdicts]:
        if item is not None and item["value"] is None:
            item["value"] = math.nan
    return plain


def write_schema() -> None:
    """Write ``result.schema.json`` anew, after a change of what a result holds."""
    SCHEMA_FILE.write_text(schema_text(), encoding="utf-8")


def schema_text() -> str:
    """The content of ``result.schema.json``: the JSON Schema of what ``json_text`` writes.

    Every key is there; what a test has not measured is null.
    """
    import msgspec

    schema: dict[str, Any] = msgspec.json.schema(Result)
    for part in schema["$defs"].values():
        part["required"] = sorted(part["properties"])
        part["additionalProperties"] = False
        for described in part["properties"].values():
            described.pop("default", None)
    for name in ("Measurement", "ResultMeasurement"):
        schema["$defs"][name]["properties"]["value"] = _NUMBER_OR_NULL
    whole = {"$schema": DIALECT, "title": "A result of pytest-autodeploy", **schema}
    return json.dumps(whole, indent=2, sort_keys=True) + "\n"
