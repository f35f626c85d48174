"""Every option of the plugin, each with its ini twin and its default; limits are derived."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_autodeploy.limits.declarations import DECLARATIONS
from pytest_autodeploy.settings.board_options import BOARD_OPTIONS
from pytest_autodeploy.settings.deliver_options import DELIVER_OPTIONS
from pytest_autodeploy.settings.file_options import FILE_OPTIONS
from pytest_autodeploy.settings.option import (
    Option,
    in_group,
    natural,
    plain_name,
    positive_float,
    positive_int,
)
from pytest_autodeploy.settings.power_options import POWER_OPTIONS

if TYPE_CHECKING:
    from pytest_autodeploy.limits.declaration import Declaration

_OPTIONS = (
    Option(
        "tflite",
        "--tflite",
        "Model to run on the board: a .tflite file, a folder or a glob; .keras, .h5 and SavedModel "
        "folders are converted with the extra 'tensorflow'. Adds the built-in tests. Repeatable",
        metavar="PATH",
        ini="args",
        default=(),
        repeatable=True,
        group="models",
    ),
    Option(
        "inputs",
        "--tflite-inputs",
        "Inputs to run instead of random ones: .npz, .npy or .csv; real values are quantised. "
        "Also the representative data of a conversion to int8",
        metavar="FILE",
        group="models",
    ),
    Option(
        "search_inputs",
        "--tflite-search-inputs",
        "Search inputs that would notice most operators if they were wrong, among random ones of "
        "many kinds and those of --tflite-inputs; once for a model, by seed (extra 'sim')",
        ini="bool",
        default=False,
        switch=True,
    ),
    Option(
        "labels",
        "--tflite-labels",
        "Labels of those inputs: .npy, .npz or .csv; class indices, or real targets of a "
        "regression. Adds the built-in test of accuracy",
        metavar="FILE",
        group="models",
    ),
    Option(
        "state",
        "--tflite-state",
        "Whether models with state (variables, LSTM, SVDF) carry it from input to input of a run, "
        "or have it reset before each (default: carry)",
        metavar="MODE",
        default="carry",
        choices=("carry", "reset"),
        group="models",
    ),
    Option(
        "runs",
        "--tflite-runs",
        "Random inputs per model whose outputs are compared (default: 10, on emulated boards 5)",
        metavar="N",
        ini="int",
        default=10,
        convert=positive_int,
        group="measuring",
    ),
    Option(
        "latency_runs",
        "--tflite-latency-runs",
        "Inferences that are timed per model, after the first (default: 10)",
        metavar="N",
        ini="int",
        default=10,
        convert=positive_int,
        group="measuring",
    ),
    Option(
        "profile",
        "--tflite-profile",
        "Inference whose layers are profiled: first, with cold caches, as AutoDeploy does; warm, "
        "the median of as many as are timed; or both (default: warm)",
        metavar="RUN",
        default="warm",
        choices=("first", "warm", "both"),
        group="measuring",
    ),
    Option(
        "seed",
        "--tflite-seed",
        "Seed of the random inputs (default: 42)",
        metavar="N",
        ini="int",
        default=42,
        convert=natural,
        group="models",
    ),
    Option(
        "reference",
        "--tflite-reference",
        "Kernels on the PC that the board is compared with; auto takes the nearest of ref, "
        "optimized and xnnpack; tflm for what LiteRT cannot run (default: auto)",
        metavar="KERNELS",
        default="auto",
        choices=("auto", "ref", "optimized", "xnnpack", "tensorflow", "tflm"),
        group="measuring",
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
    ),
    Option(
        "no_suite",
        "--tflite-no-suite",
        "Do not add the built-in tests: --tflite only parametrises your own",
        ini="bool",
        default=False,
        switch=True,
        group="models",
    ),
    *in_group("boards", BOARD_OPTIONS),
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
    Option(
        "compare",
        "--autodeploy-compare",
        "A missing baseline fails the built-in tests; those that exist are always compared with",
        ini="bool",
        default=False,
        switch=True,
    ),
    Option(
        "unjudged",
        "--autodeploy-unjudged",
        "What becomes of tests whose limits cannot be judged on this PC for want of a power meter "
        "or an extra: fail (the default), or skip, which the summary counts; without effect beside "
        "--evb-require-hardware and --autodeploy-compare",
        metavar="MODE",
        ini=None,
        default="fail",
        choices=("fail", "skip"),
        env="AUTODEPLOY_UNJUDGED",
        group="measuring",
    ),
    Option(
        "baselines",
        "--autodeploy-baselines",
        "Folder of the baselines (default: autodeploy-baselines in the root folder)",
        metavar="DIR",
        default="autodeploy-baselines",
    ),
    Option(
        "update_baseline",
        "--autodeploy-update-baseline",
        "Write the baselines of what ran and passed: all (the default) replaces values, new only "
        "adds; the value follows an equals sign",
        metavar="MODE",
        ini=None,
        choices=("all", "new"),
        bare="all",
    ),
    Option(
        "baseline_against",
        "--autodeploy-baseline-against",
        "Named baselines, such as those of a release, that are compared with and written instead: "
        "the folder @NAME among the baselines; a missing one fails",
        metavar="NAME",
        convert=plain_name,
    ),
    Option(
        "baseline_runs",
        "--autodeploy-baseline-runs",
        "Starts of the board that a baseline is made of, so that it knows how they differ; 1 does "
        "not (default: 5)",
        metavar="N",
        ini="int",
        default=5,
        convert=positive_int,
    ),
    Option(
        "compare_runs",
        "--autodeploy-compare-runs",
        "Starts of the board that are held against a baseline (default: 1, more to confirm what is "
        "worse)",
        metavar="K",
        ini="int",
        default=1,
        convert=positive_int,
    ),
    Option(
        "compare_time",
        "--autodeploy-compare-time",
        "Seconds in which a test may measure more when its repeats do not tell what a baseline "
        "allows (default: 30)",
        metavar="SECONDS",
        ini="float",
        default=30.0,
        convert=positive_float,
        group="measuring",
    ),
    Option(
        "history",
        "--autodeploy-history",
        "SQLite file to which the results of each run are added, and whose trends are reported",
        metavar="FILE",
    ),
    Option(
        "history_keep",
        "--autodeploy-history-keep",
        "Runs that the history keeps, and layers of the last 200 of them (default: 5000)",
        metavar="N",
        ini="int",
        default=5000,
        convert=positive_int,
    ),
    Option(
        "summary",
        "--autodeploy-summary",
        "Markdown file for a summary of the run; also added to $GITHUB_STEP_SUMMARY if that is set",
        metavar="FILE",
    ),
    Option(
        "explain",
        "--autodeploy-explain",
        "Why outputs differ, and in which operator that starts: auto finds it out when a test fails"
        " of it, layers also compares the operators when outputs agree, off never (default: auto)",
        metavar="MODE",
        default="auto",
        choices=("auto", "layers", "off"),
        group="measuring",
    ),
    Option(
        "sensitivity",
        "--autodeploy-sensitivity",
        "Find out, for each operator, whether the inputs would notice if it were wrong (with the "
        "extra 'sim')",
        ini="bool",
        default=False,
        switch=True,
        group="measuring",
    ),
    Option(
        "sensitivity_time",
        "--autodeploy-sensitivity-time",
        "Seconds that it may take for a model to find out what inputs would notice, or to search "
        "such that notice more (default: 120)",
        metavar="SECONDS",
        ini="float",
        default=120.0,
        convert=positive_float,
        group="measuring",
    ),
    *FILE_OPTIONS,
    *DELIVER_OPTIONS,
    *in_group("measuring", POWER_OPTIONS),
)


def limit_option(declaration: Declaration) -> Option:
    """The option of a limit, and its ini twin. Both take several limits, separated by ``;``."""
    return Option(
        declaration.name,
        declaration.flag,
        f"{declaration.option_help}. Repeatable",
        metavar="LIMIT",
        ini="args" if declaration.listed else "string",
        default=(),
        repeatable=True,
        limit=True,
        group="measuring",
    )


OPTIONS = (*_OPTIONS, *(limit_option(declaration) for declaration in DECLARATIONS))
"""All options: those above, and one for each limit that can be declared."""
