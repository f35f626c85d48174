"""AutoDeploy's options, answered with ours: what people who come from it type first."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

SUITE = "deselect the built-in test: --deselect autodeploy::"
NEW = {
    "--tflite-filename": "--tflite=FILE",
    "--model-name": "--autodeploy-name=NAME",
    "--platform": "--evb=NAME",
    "--toolchain": "--evb-toolchain=PATH",
    "--measure-power": "--autodeploy-power=joulescope",
    "--joulescope": "--autodeploy-power=joulescope",
    "--onboard-perf": "nothing: latency is timed on the board in every run",
    "--runs-power": "--autodeploy-power-runs=N",
    "--cpu-mode": "--evb-clock=HP|LP, and --autodeploy-power-modes=HP|LP|both for energy",
    "--create-library": "--autodeploy-artifacts=library",
    "--no-create-library": "nothing: artifacts are made when --autodeploy-artifacts names them",
    "--create-ambiqsuite-example": "--autodeploy-artifacts=ambiqsuite",
    "--no-create-binary": "nothing: a board that runs the image already is not flashed; for one "
    "without a link --autodeploy-from=DIR --autodeploy-power-link=pins",
    "--no-create-profile": f"{SUITE}test_layer_profile",
    "--create-profile": "nothing: layers are profiled in every run",
    "--profile-warmup": "--tflite-profile=first|warm|both",
    "--full-pmu-capture": "--evb-counters=all",
    "--pmu-config-file": "--evb-counters=EVENT,EVENT",
    "--model-location": "--evb-model-memory=NAME",
    "--arena-location": "--evb-arena-memory=NAME",
    "--tflm-location": "--evb-tflm-memory=itcm",
    "--max-arena-size": "--evb-arena-kb=KB",
    "--arena-size-scratch-buffer-padding": "--evb-arena-padding=KB",
    **dict.fromkeys(
        [
            f"--reserve-{memory}-{unit}"
            for memory in ("sram", "dtcm", "mram")
            for unit in ("percent", "kb")
        ],
        "--evb-reserve=sram=10%,dtcm=8kb",
    ),
    "--no-random-data": "--tflite-inputs=FILE",
    "--dataset": "--tflite-inputs=FILE (.npz, .npy or .csv)",
    "--destination-rootdir": "--autodeploy-output=DIR",
    "--neuralspot-rootdir": "--evb-sdk=DIR",
    "--resultlog-file": "--autodeploy-result-log=FILE",
    "--profile-results-path": "--autodeploy-keep-profiles=DIR",
    "--run-log-id": "--autodeploy-run-id=TEXT",
    "--ambiqsuite-version": "--evb-ambiqsuite=VERSION",
    "--tensorflow-version": "--evb-tflm-root=NAME",
    "--nocompile-mode": "--evb-keep-build=DIR",
    "--transport": "--evb-transport=usb|uart",
    "--tty": "--evb-port=PORT",
}
"""The new name of each old one; an old name that another plugin has means that plugin's."""


def answer(unknown: Iterable[str]) -> None:
    """Raise pytest.UsageError for AutoDeploy's options among arguments that nobody knows."""
    names = dict.fromkeys(argument.partition("=")[0] for argument in unknown)
    lines = [
        f"{name} is an option of AutoDeploy; here it is {NEW[name]}"
        for name in names
        if name in NEW
    ]
    if lines:
        raise pytest.UsageError("\n".join(lines))
