"""Indented JSON, written fast."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from pytest_autodeploy.base.json_text import indented

DOCUMENT = {
    "b": [],
    "a": {},
    "numbers": [0, -1, 2.5, 1e-07, 1e22, 123456789012345678901234567890, True, None],
    "text": 'é "quoted" \\ \n \u2028 {"a": [1, 2]} \ud800',
    "nested": {"deep": [[1, [2, {}]], {"k": [[]]}]},
}


@pytest.mark.parametrize("indent", [1, 2])
@pytest.mark.parametrize("options", [{}, {"sort_keys": True}, {"ensure_ascii": True}])
def test_it_is_what_python_writes(indent: int, options: dict[str, Any]) -> None:
    assert indented(DOCUMENT, indent, **options) == json.dumps(DOCUMENT, indent=indent, **options)


def test_what_json_has_no_number_for_is_refused() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        indented({"value": math.nan}, 2, allow_nan=False)
