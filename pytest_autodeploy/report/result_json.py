"""The JSON of a result: one model on one board in one run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pytest_autodeploy.base.numbers import finite_data

SCHEMA = 1


def json_text(result: Mapping[str, Any], provenance: Mapping[str, Any]) -> str:
    """Render a merged result as JSON, keys in order.

    ``schema`` is the version of this format. ``provenance`` says what the result was made with.
    Everything that differs between two equal runs (times, port, command) stands under ``run`` and
    nowhere else; ``provenance["run"]`` goes there. Numbers that are not finite become null.
    """
    lasting = {key: value for key, value in provenance.items() if key != "run"}
    run = {**result["run"], **provenance.get("run", {})}
    document = {"schema": SCHEMA, **result, "provenance": lasting, "run": run}
    return json.dumps(finite_data(document), indent=2, sort_keys=True, allow_nan=False) + "\n"
