"""The options of power measurements."""

from __future__ import annotations

from pytest_autodeploy.settings.meter_syntax import SYNTAX
from pytest_autodeploy.settings.option import Option, positive_float, positive_int

POWER_OPTIONS = (
    Option(
        "power",
        "--autodeploy-power",
        f"Power meter: {SYNTAX} (default: sim on simulated boards and virtual EVBs, else off)",
        metavar="METER",
    ),
    Option(
        "power_window",
        "--autodeploy-power-window",
        "Seconds that a window of inferences lasts at least (default: 1)",
        metavar="SECONDS",
        ini="float",
        default=1.0,
        convert=positive_float,
    ),
    Option(
        "power_repeats",
        "--autodeploy-power-repeats",
        "Windows that are measured, for mean and spread (default: 3)",
        metavar="N",
        ini="int",
        default=3,
        convert=positive_int,
    ),
    Option(
        "power_runs",
        "--autodeploy-power-runs",
        "Inferences in a window (default: planned from the latency)",
        metavar="N",
        ini="int",
        default=0,
        convert=positive_int,
    ),
    Option(
        "power_modes",
        "--autodeploy-power-modes",
        "Clock modes whose energy the built-in test measures: HP, LP or both (default: both)",
        metavar="MODES",
        default="both",
        choices=("HP", "LP", "both"),
    ),
    Option(
        "power_link",
        "--autodeploy-power-link",
        "How a board is led through its windows: rpc, or pins for a board without a link to this "
        "PC, which is flashed with the power application of the model; with --autodeploy-from "
        "(default: rpc)",
        metavar="LINK",
        default="rpc",
        choices=("rpc", "pins"),
    ),
    Option(
        "save_capture",
        "--autodeploy-save-capture",
        "Keep the meter's raw streams as .jls files in the results folder",
        ini="bool",
        default=False,
        switch=True,
    ),
    Option(
        "check_wiring",
        "--autodeploy-check-wiring",
        "Only tell which of the lines between the meter and the boards work, without a model",
        ini=None,
        default=False,
        switch=True,
    ),
)
