"""Which part of a file with several entries is tested."""

from __future__ import annotations

from pathlib import Path

from pytest_autodeploy.board.inspection import inspect_model
from pytest_autodeploy.model import tested
from pytest_autodeploy.model.parse import parse
from tests.helpers import tflite_builder as build

TWO = parse(Path("two.tflite"), build.two_signatures())


def test_the_main_subgraph_is_tested_and_the_other_named() -> None:
    assert tested.untested_subgraphs(TWO) == [1]
    assert [operator.macs for operator in tested.tested_operators(TWO)] == [8]
    assert tested.tested_text(TWO) == (
        "tested is subgraph 0 (signature 'small'), which TFLM runs;"
        " subgraph 1 (signature 'large') is not tested"
    )


def test_the_table_of_operators_has_the_macs_of_the_header() -> None:
    plain = inspect_model(TWO).as_dict()
    assert plain["macs"] == sum(kind["macs"] for kind in plain["operators"]) == 8
    assert plain["tested"] == tested.tested_text(TWO)


def test_subgraphs_that_are_called_are_tested() -> None:
    for content in (build.running_sum(), build.endless_loop(), build.relu()):
        assert tested.tested_text(parse(Path("m.tflite"), content)) == ""
