"""The names of the schema, against the schema itself."""

from __future__ import annotations

import pytest
from ai_edge_litert import schema_py_generated as schema

from pytest_autodeploy.model.schema_names import BUILTIN_OPERATORS, TENSOR_TYPES, name_of


@pytest.mark.parametrize(
    ("enumeration", "names"),
    [(schema.BuiltinOperator, BUILTIN_OPERATORS), (schema.TensorType, TENSOR_TYPES)],
)
def test_names_stand_at_their_numbers(enumeration: type, names: tuple[str, ...]) -> None:
    members = {name: number for name, number in vars(enumeration).items() if name.isupper()}
    known = names[: max(members.values()) + 1]  # an older LiteRT does not know the latest
    assert {name: number for number, name in enumerate(known)}.items() <= members.items()
    assert len(names) > 15


@pytest.mark.parametrize("code", [-1, 100_000])
def test_an_unknown_number_has_no_name(code: int) -> None:
    assert name_of(BUILTIN_OPERATORS, code) is None
