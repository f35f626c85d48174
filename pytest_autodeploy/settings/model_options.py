"""The options of models and of what is run with them."""

from __future__ import annotations

from pytest_autodeploy.settings.option import Option, natural, positive_int

MODEL_OPTIONS = (
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
        group="models",
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
        "no_suite",
        "--tflite-no-suite",
        "Do not add the built-in tests: --tflite only parametrises your own",
        ini="bool",
        default=False,
        switch=True,
        group="models",
    ),
)
