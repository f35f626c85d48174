"""Records as the plugin makes them: a keyword spotter of 13 layers on a simulated board."""

from __future__ import annotations

import copy
from typing import Any

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

MODEL: dict[str, Any] = {
    "id": "kws_ref_model",
    "name": "kws_ref_model",
    "path": "models/kws_ref_model.tflite",
    "sha256": "5c" * 32,
    "size_bytes": 53936,
    "macs": 2656768,
    "known_macs": 2656768,
    "unknown_operators": [],
    "operators": 13,
    "parameters": 24908,
}

BOARD: dict[str, Any] = {
    "id": "sim:apollo4p_evb",
    "name": "apollo4p_evb",
    "kind": "simulated",
    "source": "modelled",
    "core": "cortex-m4f",
    "port": "/dev/pts/7",
    "build_id": "b1946ac9",
    "engine": "tflite-micro",
    "engine_version": "0.dev20250101",
    "clock": "HP",
    "clock_hz": 192_000_000,
}

AGREEMENT: dict[str, Any] = {
    "passed": True,
    "count": 10,
    "outputs": [
        {
            "name": "Identity",
            "dtype": "int8",
            "max_abs_steps": 1.0,
            "mean_abs_steps": 0.0083,
            "max_abs_real": 0.00390625,
            "mean_abs_real": 3.26e-05,
            "rmse_real": 0.000357,
            "relative_l2": 0.00108,
            "cosine": 0.999991,
            "nse": 0.999953,
            "elements": 120,
            "elements_beyond": 0,
            "argmax_agreement": 1.0,
            "nan_mismatch": 0,
            "unit": "steps",
            "distances": {"ref": 1.0, "optimized": 1.0, "xnnpack": 3.0},
            "tolerance": "1 step",
        }
    ],
    "words": "within 1 step of ref",
    "nearest": {"ref": 10, "optimized": 0, "xnnpack": 0},
    "distances": {"ref": 1.0, "optimized": 1.0, "xnnpack": 3.0},
    "distance_unit": "steps",
    "exact": False,
    "exact_paths": [],
    "worst": {
        "output": 0,
        "name": "Identity",
        "inference": 4,
        "index": [7],
        "board": -121,
        "pc": -120,
        "steps": 1.0,
        "real": 0.00390625,
        "limit": 1.0,
        "unit": "steps",
        "path": "ref",
    },
    "failed_inferences": [],
    "share_beyond": 0.0,
    "tolerance": "1 step",
    "reference": "auto",
    "failed_paths": {},
}


def measurement(
    name: str, value: float, unit: str = "1", source: str = "modelled"
) -> dict[str, Any]:
    """A measurement as plain data."""
    return {"name": name, "value": value, "unit": unit, "better": "lower", "source": source}


def profile() -> dict[str, Any]:
    """The profile of the 13 layers, with two counters."""
    return {
        "run": "warm",
        "counters": ["cpi", "lsu"],
        "source": "modelled",
        "layers": [
            {
                "index": index,
                "tag": tag,
                "us": float(us),
                "macs": macs,
                "cycles": cycles,
                "counters": [141, 188],
            }
            for index, (tag, us, macs, cycles) in enumerate(_LAYERS)
        ],
    }


def verdict(passed: bool | None, words: str = "320.6 ms, limit 400.0 ms") -> dict[str, Any]:
    """A verdict on the latency."""
    return {
        "limit": "latency_budget(ms=400)",
        "origin": "marker",
        "passed": passed,
        "words": words,
        "measurement": measurement("latency_median", 320648, "us"),
    }


def record(nodeid: str = "test_kws.py::test_kws", **changes: Any) -> dict[str, Any]:
    """The record of a test that measured everything and passed."""
    whole = {
        "nodeid": nodeid,
        "outcome": "passed",
        "message": "",
        "model": MODEL,
        "board": BOARD,
        "seed": 42,
        "inputs": "random, seed 42",
        "measurements": [
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
            measurement("arena_used", 22928, "B") | {"note": "TFLM on this PC"},
            measurement("arena_given", 131072, "B"),
        ],
        "agreement": AGREEMENT,
        "profile": profile(),
        "verdicts": [verdict(True)],
        "files": {},
        "log": "",
    }
    return copy.deepcopy(whole | changes)


def setup_failure(message: str = "BoardTimeout: no answer after 2 s") -> dict[str, Any]:
    """The record of a test whose board never came up."""
    return {
        "nodeid": "test_kws.py::test_dead",
        "outcome": "error",
        "message": message,
        "model": copy.deepcopy(MODEL),
        "board": {"id": "sim:apollo4p_evb"},
        "files": {},
    }
