"""Execution order over subgraphs, and the work of what calls them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from pytest_autodeploy.base.errors import ModelError
from pytest_autodeploy.model.graph import Model
from pytest_autodeploy.model.load import load_model
from tests.helpers import tflite_builder as build
from tests.helpers.tflite_builder import OperatorSpec, Subgraph


def load(tmp_path: Path, operators: Sequence[OperatorSpec], *more: Subgraph) -> Model:
    path = tmp_path / "calls.tflite"
    path.write_bytes(
        build.build_model(operators=operators, inputs=[], outputs=[], more_subgraphs=more)
    )
    return load_model(path)


def plain(name: str) -> OperatorSpec:
    return build.operator(name, [], [build.tensor((1,))])


def dense() -> OperatorSpec:
    """Work of 12 MACs."""
    shapes = [build.tensor((1, 4)), build.tensor((3, 4))]
    return build.operator("FULLY_CONNECTED", shapes, [build.tensor((1, 3))])


def call(name: str, **options: int) -> OperatorSpec:
    return build.operator(name, [], [], options=options)


def test_operators_of_a_subgraph_follow_the_first_that_calls_it(tmp_path: Path) -> None:
    model = load(
        tmp_path,
        [
            plain("ABS"),
            call("IF", then_subgraph_index=2, else_subgraph_index=1),
            call("IF", then_subgraph_index=1, else_subgraph_index=2),
            plain("COS"),
        ],
        Subgraph([plain("EXP")]),
        Subgraph([plain("LOG"), call("CALL_ONCE", init_subgraph_index=3), plain("NEG")]),
        Subgraph([plain("SIN")]),
        Subgraph([plain("TANH")]),
    )
    names = [operator.name for operator in model.operators]
    assert names == ["ABS", "IF", "LOG", "CALL_ONCE", "SIN", "NEG", "EXP", "IF", "COS", "TANH"]
    assert [operator.index for operator in model.operators] == list(range(10))
    assert [operator.subgraph for operator in model.operators] == [0, 0, 2, 2, 3, 2, 1, 0, 0, 4]
    assert model.subgraphs == 5


def test_control_flow_over_work_is_unknown(tmp_path: Path) -> None:
    loop = call("WHILE", cond_subgraph_index=1, body_subgraph_index=2)
    model = load(tmp_path, [dense(), loop], Subgraph([plain("LESS")]), Subgraph([dense()]))
    assert [operator.macs for operator in model.operators] == [12, None, 0, 12]
    assert (model.macs, model.known_macs) == (None, 12)
    assert model.unknown_operators == ("WHILE",)


def test_control_flow_without_work_has_none(tmp_path: Path) -> None:
    branch = call("IF", then_subgraph_index=1, else_subgraph_index=1)
    assert load(tmp_path, [branch], Subgraph([plain("ABS")])).macs == 0


def test_a_call_has_the_work_of_its_subgraph_each_time(tmp_path: Path) -> None:
    model = load(tmp_path, [call("CALL", subgraph=1)] * 2, Subgraph([dense(), dense()]))
    assert model.macs == 2 * 24


def test_what_is_called_once_and_what_is_never_called_costs_no_inference(tmp_path: Path) -> None:
    once = call("CALL_ONCE", init_subgraph_index=1)
    assert load(tmp_path, [once], Subgraph([dense()]), Subgraph([dense()])).macs == 0


@pytest.mark.parametrize("called", [0, 1, 2, -1])
def test_a_call_in_a_circle_or_to_nowhere_is_damage(tmp_path: Path, called: int) -> None:
    back = call("IF", then_subgraph_index=called, else_subgraph_index=1)
    with pytest.raises(ModelError, match=f"subgraph 1: IF calls subgraph {called}"):
        load(tmp_path, [call("CALL_ONCE", init_subgraph_index=1)], Subgraph([back]))


def test_a_custom_operator_named_like_control_flow_calls_nothing(tmp_path: Path) -> None:
    model = load(tmp_path, [build.operator("WHILE", [], [], custom=True)])
    assert model.operators[0].custom
    assert model.macs is None
