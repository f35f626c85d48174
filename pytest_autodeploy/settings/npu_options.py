"""The options of estimates for an Ethos-U."""

from __future__ import annotations

from pytest_autodeploy.settings.option import Option

NPU_OPTIONS = (
    Option(
        "npu",
        "--tflite-npu",
        "Arm Ethos-U accelerator to estimate the model on with Vela (extra 'vela'), such as "
        "ethos-u85-256. Repeatable",
        metavar="ACCELERATOR",
        ini="args",
        default=(),
        repeatable=True,
        group="measuring",
    ),
    Option(
        "npu_config",
        "--tflite-npu-config",
        "Vela .ini file with system configurations and memory modes (default: Vela's own)",
        metavar="FILE",
        group="measuring",
    ),
    Option(
        "npu_system_config",
        "--tflite-npu-system-config",
        "System configuration of the estimates (default: Vela's for the accelerator)",
        metavar="NAME",
        group="measuring",
    ),
    Option(
        "npu_memory_mode",
        "--tflite-npu-memory-mode",
        "Memory mode of the estimates (default: Vela's for the accelerator)",
        metavar="NAME",
        group="measuring",
    ),
    Option(
        "npu_core",
        "--tflite-npu-core",
        "Core of Vela that estimates: regor, that of Vela 5, or legacy, the older one for "
        "Ethos-U55 and U65, of which older figures are (default: regor)",
        metavar="CORE",
        default="regor",
        choices=("regor", "legacy"),
        group="measuring",
    ),
)
