"""Result files as a run leaves them, held against their JSON Schema and read back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from pytest_autodeploy.report.result_json import SCHEMA_FILE, json_text, parse_result

VALIDATOR = Draft202012Validator(json.loads(SCHEMA_FILE.read_text(encoding="utf-8")))


def result_file(path: Path) -> dict[str, Any]:
    """The document of a result file, which is as the schema says and can be read back."""
    text = path.read_text(encoding="utf-8")
    document: dict[str, Any] = json.loads(text)
    VALIDATOR.validate(document)
    assert json_text(parse_result(text, path.name)) == text
    return document
