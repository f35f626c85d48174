"""Records: they cross process borders as plain values and come back the same, or not at all."""

from __future__ import annotations

import json
import math

import execnet
import msgspec
import numpy as np
import pytest

from pytest_autodeploy.base.measurement import Measurement
from pytest_autodeploy.limits.tolerance import Tolerance
from pytest_autodeploy.metrics.record import TestRecord, from_plain, to_plain
from pytest_autodeploy.metrics.records.agreement import agreement_record
from pytest_autodeploy.metrics.records.facts import BoardFacts, ModelFacts
from pytest_autodeploy.profile.records import Layer, LayerProfile
from pytest_autodeploy.reference.compare import compare
from tests.helpers.npu_examples import mixed_estimate
from tests.helpers.reference_stand_ins import model, tensor

RECORD = TestRecord(
    "test_it.py::test_it",
    "passed",
    "",
    ModelFacts("kws", "kws", "kws.tflite", macs=7),
    BoardFacts("sim:apollo4p_evb", "HP", source="modelled", clock_hz=192_000_000),
    measurements=(Measurement("arena_used", 22928, "B", "lower", "modelled"),),
    profile=LayerProfile((Layer(0, "CONV_2D", 5.5, 7, None, (1, 2)),), "warm", ("a",), "modelled"),
)


def test_a_record_crosses_process_borders_and_comes_back_the_same() -> None:
    plain = execnet.loads(execnet.dumps(to_plain(RECORD)))
    assert from_plain(plain) == RECORD


def test_whole_numbers_stay_whole() -> None:
    back = from_plain(json.loads(json.dumps(to_plain(RECORD))))
    assert back == RECORD
    assert type(back.measurements[0].value) is int
    assert type(back.board.clock_hz) is int


@pytest.mark.parametrize("key", ["outcome", "measurements", "model"])
def test_a_value_of_another_type_is_refused(key: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=rf"\$\.{key}"):
        from_plain({**to_plain(RECORD), key: 5})


def test_what_is_unavailable_of_an_estimate_keeps_its_reason() -> None:
    whole = TestRecord("a", "passed", "", RECORD.model, npu=mixed_estimate())
    assert from_plain(to_plain(whole)) == whole


def test_what_is_not_finite_is_none() -> None:
    board, pc = (np.array([[[first, 1, 1, 1]]], np.float32) for first in (math.nan, 1))
    agreement = compare(
        model(outputs=(tensor("y", (1, 4), "float32"),)), (board,), {"ref": (pc,)}, Tolerance()
    )
    made = agreement_record(agreement)
    assert made.worst
    assert (made.outputs[0].max_abs_real, made.worst.board) == (None, None)
    assert made.distances == {"ref": None}
    record = TestRecord("a", "failed", "", RECORD.model, agreement=made)
    assert from_plain(json.loads(json.dumps(to_plain(record), allow_nan=False))) == record
