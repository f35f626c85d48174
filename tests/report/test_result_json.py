"""The JSON of a result: its schema, what is refused, and reading it back."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_autodeploy.base.errors import ResultsError
from pytest_autodeploy.metrics.comparison import Comparison, Row
from pytest_autodeploy.metrics.record import RecordFiles, TestRecord
from pytest_autodeploy.metrics.records.artifacts import (
    ArtifactsRecord,
    ExampleRecord,
    FootprintRecord,
    OmissionRecord,
    PartRecord,
)
from pytest_autodeploy.metrics.result import Provenance, Result, RunFacts
from pytest_autodeploy.report.result_json import SCHEMA_FILE, json_text, parse_result, schema_text
from pytest_autodeploy.report.results import ResultStore
from tests.helpers.explanation_examples import explanation, layer
from tests.helpers.npu_examples import cpu_estimate, mixed_estimate, whole_estimate
from tests.helpers.report_examples import (
    ACCURACY,
    BOARD,
    energy,
    measurement,
    record,
    setup_failure,
    verdict,
)
from tests.helpers.result_files import VALIDATOR

ROW = Row("latency_median", "us", "modelled", 5.0, 6.0, 1.0, 0.5, "percentage", "regression")
WHOLE = record(
    failure_class="regression",
    state="carry",
    accuracy=ACCURACY,
    explanation=explanation(layer(0, 1.0, 0.0), layer(1, None, None, not_a_number=True)),
    power=(energy(),),
    comparison=Comparison("regression", "kws.json", (ROW,), (replace(ROW, baseline=None),)),
    verdicts=(verdict(True), replace(verdict(False), measurement=None, why="so")),
    artifacts=ArtifactsRecord(
        files=("a.h",),
        left_out=(OmissionRecord("the library", "no TFLM tree"),),
        footprints=(FootprintRecord("library", 10, 7, (PartRecord("model", 10, 7),)),),
        example=ExampleRecord(0, "fine"),
        characterised_on="sim:apollo4p_evb",
        characterisation_source="modelled",
    ),
    files=RecordFiles("a.npz", "b.npz"),
)
ESTIMATES = [
    TestRecord("a", "passed", "", WHOLE.model, BOARD, npu=made)
    for made in (whole_estimate(), mixed_estimate(), cpu_estimate())
]


def result(*records: TestRecord) -> Result:
    """The merged result of records, as it is written."""
    store = ResultStore()
    for each in records:
        store.add(each)
    (merged,) = store.results()
    return replace(merged, provenance=Provenance({"numpy": None}), run=RunFacts("/dev/pts/1"))


def document(*records: TestRecord) -> dict[str, Any]:
    """The JSON of a result."""
    plain: dict[str, Any] = json.loads(json_text(result(*records)))
    return plain


@pytest.mark.parametrize("one", [WHOLE, record(), setup_failure(), *ESTIMATES])
def test_what_is_written_is_as_the_schema_says_and_reads_back_the_same(one: TestRecord) -> None:
    VALIDATOR.validate(document(one))
    assert parse_result(json_text(result(one)), "f") == result(one)


def test_the_schema_in_the_package_is_that_of_the_results() -> None:
    assert SCHEMA_FILE.read_text(encoding="utf-8") == schema_text(), "run 'make schema'"


def test_every_key_is_there_and_null_where_nothing_was_measured() -> None:
    whole, failed = document(WHOLE), document(setup_failure())
    assert set(whole) == set(failed)
    assert failed["agreement"] is failed["board"]["clock_hz"] is failed["npu"] is None
    assert set(whole["board"]) == set(failed["board"])


@pytest.mark.parametrize("part", [(), ("model",), ("board",), ("measurements", 0)])
def test_a_key_too_few_or_too_many_is_not_as_the_schema_says(part: tuple[str | int, ...]) -> None:
    for change in ("less", "more"):
        plain = document(WHOLE)
        place: Any = plain
        for key in part:
            place = place[key]
        if change == "less":
            place.popitem()
        else:
            place["surprise"] = 1
        assert not VALIDATOR.is_valid(plain)


def test_a_measurement_that_is_not_finite_is_null_and_comes_back_as_nan() -> None:
    odd = measurement("output_distance", math.inf, "real")
    one = record(measurements=(odd,), verdicts=(replace(verdict(False), measurement=odd),))
    VALIDATOR.validate(document(one))
    back = parse_result(json_text(result(one)), "f")
    assert math.isnan(back.measurements[0].value)
    assert back.verdicts[0].measurement
    assert math.isnan(back.verdicts[0].measurement.value)


def test_what_an_estimate_derives_is_written_too() -> None:
    npu = document(ESTIMATES[1])["npu"]
    assert npu["scope"] == "NPU part only, 2 of 4 operators"
    assert npu["coverage"]["text"] == "2 of 4 operators"
    assert npu["coverage"]["share"] == 0.5
    assert npu["totals"]["flash_bytes"] > 0


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "f is no result: Expecting value"),
        ("[]", "f is no result"),
        ("{}", "f is no result: 'schema'"),
        ('{"schema": 1}', "f has schema 1, this version reads 2\n  run the tests again"),
        ('{"schema": 2}', "f is no result: 'verdicts'"),
        ('{"schema": 2, "verdicts": [], "measurements": []}', "missing required field `model`"),
    ],
)
def test_what_is_no_result_is_refused(text: str, says: str) -> None:
    with pytest.raises(ResultsError) as caught:
        parse_result(text, "f")
    assert says in str(caught.value)


def test_a_value_of_another_type_is_refused_with_its_place(tmp_path: Path) -> None:
    plain = document(WHOLE)
    plain["board"]["clock_hz"] = "fast"
    with pytest.raises(ResultsError, match=r"\$\.board\.clock_hz"):
        parse_result(json.dumps(plain), "f")
