"""Records as the plugin makes them: a keyword spotter of 13 layers on a simulated board."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pytest_autodeploy.base.measurement import Measurement, Source
from pytest_autodeploy.metrics.ledger import Row, Status
from pytest_autodeploy.metrics.record import TestRecord
from pytest_autodeploy.metrics.records.accuracy import (
    AccuracyRecord,
    ChangedDecision,
    SideRecord,
)
from pytest_autodeploy.metrics.records.agreement import (
    AgreementRecord,
    OutputRecord,
    WorstRecord,
)
from pytest_autodeploy.metrics.records.energy import EnergyRecord, WindowRecord
from pytest_autodeploy.metrics.records.facts import BoardFacts, ModelFacts
from pytest_autodeploy.profile.records import Layer, LayerProfile
from pytest_autodeploy.session.energy import Waveform

_LAYERS = (
    ("CONV_2D", 47794, 320000, 9176380),
    ("DEPTHWISE_CONV_2D", 23334, 72000, 4480072),
    ("CONV_2D", 44674, 512000, 8577368),
    ("DEPTHWISE_CONV_2D", 23337, 72000, 4480468),
    ("CONV_2D", 44671, 512000, 8578178),
    ("DEPTHWISE_CONV_2D", 23328, 72000, 4478896),
    ("CONV_2D", 44676, 512000, 8576362),
    ("DEPTHWISE_CONV_2D", 23336, 72000, 4478996),
    ("CONV_2D", 44675, 512000, 8577472),
    ("AVERAGE_POOL_2D", 583, 0, 111772),
    ("RESHAPE", 21, 0, 3748),
    ("FULLY_CONNECTED", 134, 768, 25644),
    ("SOFTMAX", 85, 0, 17574),
)

MODEL = ModelFacts(
    id="kws_ref_model",
    name="kws_ref_model",
    path="models/kws_ref_model.tflite",
    sha256="5c" * 32,
    size_bytes=53936,
    macs=2656768,
    known_macs=2656768,
    operators=13,
    parameters=24908,
)

BOARD = BoardFacts(
    id="sim:apollo4p_evb",
    name="apollo4p_evb",
    kind="simulated",
    source="modelled",
    core="cortex-m4f",
    port="/dev/pts/7",
    build_id="b1946ac9",
    engine="tflite-micro",
    engine_version="0.dev20250101",
    clock="HP",
    clock_hz=192_000_000,
)

OUTPUT = OutputRecord(
    name="Identity",
    dtype="int8",
    max_abs_steps=1.0,
    mean_abs_steps=0.0083,
    max_abs_real=0.00390625,
    mean_abs_real=3.26e-05,
    rmse_real=0.000357,
    relative_l2=0.00108,
    cosine=0.999991,
    nse=0.999953,
    elements=120,
    elements_beyond=0,
    argmax_agreement=1.0,
    nan_mismatch=0,
    unit="steps",
    distances={"ref": 1.0, "optimized": 1.0, "xnnpack": 3.0},
    tolerance="1 step",
    nan=0,
    infinite=0,
    constant=False,
    saturated=0.0,
)

AGREEMENT = AgreementRecord(
    passed=True,
    text="within 1 step of ref",
    warnings=(),
    count=10,
    outputs=(OUTPUT,),
    nearest={"ref": 10, "optimized": 0, "xnnpack": 0},
    distances={"ref": 1.0, "optimized": 1.0, "xnnpack": 3.0},
    distance_unit="steps",
    exact=False,
    exact_paths=(),
    worst=WorstRecord(
        output=0,
        name="Identity",
        inference=4,
        index=(7,),
        board=-121,
        pc=-120,
        steps=1.0,
        real=0.00390625,
        limit=1.0,
        unit="steps",
        path="ref",
    ),
    failed_inferences=(),
    share_beyond=0.0,
    tolerance="1 step",
    reference="auto",
    failed_paths={},
)

_SIDE = SideRecord(0.9833, 59)

ACCURACY = AccuracyRecord(
    text="0.9833 on the board, 0.9833 on the PC (ref kernels), 1 of 60 decisions changed",
    task="classification",
    samples=60,
    inputs="x.npz",
    labels="y.npy",
    output="Identity",
    top_k=1,
    threshold=None,
    board=_SIDE,
    pc={"ref": _SIDE},
    reference="ref",
    against=None,
    failed_paths={},
    drop=0.0,
    changed=(ChangedDecision(4, 1, 1, 0.5, None, None),),
    classes=2,
    confusion=((30, 1), (0, 29)),
    confused=((0, 1, 1),),
    restarts=(),
)


def energy() -> EnergyRecord:
    """The energy at HP, from one window."""
    window = WindowRecord(1000, 1e6, 250.0, 130.0, 12.5, 20.0)
    wave = Waveform(0.1, (0.001, 0.002), (0.01, 0.02), (0.02, 0.03), (0.05, 0.15))
    return EnergyRecord("HP", "js220", "measured", "", "", 10, None, (window,), wave)


def measurement(
    name: str, value: float, unit: str = "1", source: Source = "modelled", note: str = ""
) -> Measurement:
    """A measurement that is better when it is lower."""
    return Measurement(name, value, unit, "lower", source, note)


def profile() -> LayerProfile:
    """The profile of the 13 layers, with two counters."""
    layers = (
        Layer(index, tag, float(us), macs, cycles, (141, 188))
        for index, (tag, us, macs, cycles) in enumerate(_LAYERS)
    )
    return LayerProfile(tuple(layers), "warm", ("cpi", "lsu"), "modelled")


def verdict(passed: bool | None, words: str = "320.6 ms, limit 400.0 ms") -> Row:
    """A verdict on the latency."""
    value = measurement("latency_median", 320648, "us")
    status: Status = {True: "pass", False: "FAIL", None: "no limit"}[passed]  # type: ignore[assignment]
    return Row("latency_budget", "latency_budget(ms=400)", "marker", status, words, value)


RECORD = TestRecord(
    nodeid="test_kws.py::test_kws",
    outcome="passed",
    message="",
    model=MODEL,
    board=BOARD,
    seed=42,
    inputs="random, seed 42",
    measurements=(
        measurement("layers", 13),
        measurement("model_size", 53936, "B", "exact"),
        measurement("macs", 2656768, source="estimated"),
        measurement("latency_first", 322010, "us"),
        measurement("latency_median", 320648, "us"),
        measurement("latency_p95", 320702, "us"),
        measurement("latency_max", 320711, "us"),
        measurement("inferences_timed", 10),
        measurement("macs_per_second", 8285621, "1/s"),
        measurement("profile_time", 320648, "us"),
        measurement("profile_cycles", 61562930),
        measurement("cycles_per_mac", 23.172),
        measurement("arena_used", 22928, "B", note="TFLM on this PC"),
        measurement("arena_given", 131072, "B"),
    ),
    agreement=AGREEMENT,
    profile=profile(),
    verdicts=(verdict(True),),
)


def record(nodeid: str = RECORD.nodeid, **changes: Any) -> TestRecord:
    """The record of a test that measured everything and passed."""
    return replace(RECORD, nodeid=nodeid, **changes)


def setup_failure(message: str = "BoardTimeout: no answer after 2 s", **changes: Any) -> TestRecord:
    """The record of a test whose board never came up."""
    failed = TestRecord(
        "test_kws.py::test_dead", "error", message, MODEL, BoardFacts("sim:apollo4p_evb")
    )
    return replace(failed, **changes)
