"""Every option of the plugin, each with its ini twin and its default."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

DEFAULT_EVB = "sim:apollo4p_evb"

IniType = Literal["string", "args", "bool", "int", "float"]


@dataclass(frozen=True)
class Option:
    """One setting: its command-line option, its ini twin ``autodeploy_<name>`` and its default."""

    name: str
    flag: str
    help: str
    metavar: str | None = None
    ini: IniType | None = "string"
    default: Any = None
    choices: tuple[str, ...] | None = None
    repeatable: bool = False
    switch: bool = False
    convert: Callable[[str], Any] = str

    @property
    def dest(self) -> str:
        """Where the parsed option is stored."""
        return f"autodeploy_{self.name}"

    @property
    def ini_name(self) -> str:
        """Name of the ini twin."""
        return f"autodeploy_{self.name}"


def positive_int(text: str) -> int:
    """Parse a whole number of at least 1; ValueError else."""
    value = int(text)
    if value < 1:
        raise ValueError(f"{text!r} is not a positive whole number")
    return value


def positive_float(text: str) -> float:
    """Parse a finite number above 0; ValueError else."""
    value = float(text)
    if not 0 < value < float("inf"):
        raise ValueError(f"{text!r} is not a positive number")
    return value


def natural(text: str) -> int:
    """Parse a whole number of at least 0; ValueError else."""
    value = int(text)
    if value < 0:
        raise ValueError(f"{text!r} is negative")
    return value


OPTIONS = (
    Option(
        "tflite",
        "--tflite",
        "Model to run on the board: a .tflite file, a folder or a glob; .keras, .h5 and SavedModel "
        "folders are converted with the extra 'tensorflow'. Adds the built-in tests. Repeatable",
        metavar="PATH",
        ini="args",
        default=(),
        repeatable=True,
    ),
    Option(
        "inputs",
        "--tflite-inputs",
        "Inputs to run instead of random ones: .npz, .npy or .csv; real values are quantised. "
        "Also the representative data of a conversion to int8",
        metavar="FILE",
    ),
    Option(
        "runs",
        "--tflite-runs",
        "Random inputs per model whose outputs are compared (default: 10)",
        metavar="N",
        ini="int",
        default=10,
        convert=positive_int,
    ),
    Option(
        "latency_runs",
        "--tflite-latency-runs",
        "Inferences that are timed per model, after the first (default: 10)",
        metavar="N",
        ini="int",
        default=10,
        convert=positive_int,
    ),
    Option(
        "seed",
        "--tflite-seed",
        "Seed of the random inputs (default: 42)",
        metavar="N",
        ini="int",
        default=42,
        convert=natural,
    ),
    Option(
        "reference",
        "--tflite-reference",
        "Kernels on the PC that the board is compared with; auto takes the nearest of ref, "
        "optimized and xnnpack (default: auto)",
        metavar="KERNELS",
        default="auto",
        choices=("auto", "ref", "optimized", "xnnpack", "tensorflow"),
    ),
    Option(
        "output_tolerance",
        "--tflite-tolerance",
        "Tolerance of the built-in output test, such as lsb=1 or atol=1e-3,rtol=1e-2",
        metavar="LIMIT",
    ),
    Option(
        "latency_budget",
        "--tflite-latency-budget",
        "Budget of the built-in latency test, such as ms=25 or us=900,statistic=p95",
        metavar="LIMIT",
    ),
    Option(
        "memory_limit",
        "--tflite-memory-limit",
        "Limit of the built-in memory test, such as arena_kb=32 or arena_kb=32,model_kb=100",
        metavar="LIMIT",
    ),
    Option(
        "npu",
        "--tflite-npu",
        "Arm Ethos-U accelerator to estimate the model on with Vela (extra 'vela'), such as "
        "ethos-u85-256. Repeatable",
        metavar="ACCELERATOR",
        ini="args",
        default=(),
        repeatable=True,
    ),
    Option(
        "npu_config",
        "--tflite-npu-config",
        "Vela .ini file with system configurations and memory modes (default: Vela's own)",
        metavar="FILE",
    ),
    Option(
        "npu_system_config",
        "--tflite-npu-system-config",
        "System configuration of the estimates (default: Vela's for the accelerator)",
        metavar="NAME",
    ),
    Option(
        "npu_memory_mode",
        "--tflite-npu-memory-mode",
        "Memory mode of the estimates (default: Vela's for the accelerator)",
        metavar="NAME",
    ),
    Option(
        "npu_budget",
        "--tflite-npu-budget",
        "Budget of the built-in estimates, such as cycles=100000,min_coverage=0.9",
        metavar="LIMIT",
    ),
    Option(
        "no_suite",
        "--tflite-no-suite",
        "Do not add the built-in tests: --tflite only parametrises your own",
        ini="bool",
        default=False,
        switch=True,
    ),
    Option(
        "evb",
        "--evb",
        f"Board to run on; sim:NAME is a simulated one. Repeatable (default: {DEFAULT_EVB})",
        metavar="NAME",
        ini="args",
        default=(DEFAULT_EVB,),
        repeatable=True,
    ),
    Option(
        "evb_port",
        "--evb-port",
        "Attach to a board that already runs its model: a device, socket://HOST:PORT or "
        "rfc2217://HOST:PORT",
        metavar="URL",
    ),
    Option(
        "evb_clock",
        "--evb-clock",
        "Clock mode: HP (high performance) or LP (low power) (default: HP)",
        metavar="MODE",
        default="HP",
        choices=("HP", "LP"),
    ),
    Option(
        "evb_arena_kb",
        "--evb-arena-kb",
        "Tensor arena to give the model, in KB (default: the largest that the board allows)",
        metavar="KB",
        ini="int",
        default=0,
        convert=positive_int,
    ),
    Option(
        "evb_timeout",
        "--evb-timeout",
        "Seconds that one call to the board may take (default: 60)",
        metavar="SECONDS",
        ini="float",
        default=60.0,
        convert=positive_float,
    ),
    Option(
        "evb_require_hardware",
        "--evb-require-hardware",
        "Refuse to run on anything but real boards",
        ini="bool",
        default=False,
        switch=True,
    ),
    Option(
        "evb_sim_link",
        "--evb-sim-link",
        "Link of simulated boards, such as bytes_per_s=1000000,latency_ms=1 (default: unlimited)",
        metavar="LINK",
    ),
    Option(
        "cache",
        "--autodeploy-cache",
        "Folder for what need not be computed twice, or off (default: the user's cache folder)",
        metavar="DIR",
    ),
    Option(
        "output",
        "--autodeploy-output",
        "Folder for results (default: autodeploy-results)",
        metavar="DIR",
        default="autodeploy-results",
    ),
)
