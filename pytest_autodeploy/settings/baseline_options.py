"""The options of baselines, comparisons and the history."""

from __future__ import annotations

from pytest_autodeploy.settings.option import Option, plain_name, positive_float, positive_int

BASELINE_OPTIONS = (
    Option(
        "compare",
        "--autodeploy-compare",
        "A missing baseline fails the built-in tests; those that exist are always compared with",
        ini="bool",
        default=False,
        switch=True,
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
)
