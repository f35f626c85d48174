"""The options of what a run leaves behind, beside its results."""

from __future__ import annotations

from pytest_autodeploy.settings.option import Option

FILE_OPTIONS = (
    Option(
        "name",
        "--autodeploy-name",
        "Name of the model in reports, folders and C, for a run of one model (default: that of its "
        "file)",
        metavar="NAME",
        ini=None,
        group="models",
    ),
    Option(
        "run_id",
        "--autodeploy-run-id",
        "Text that names the run in JSON, JUnit, the history and the result log",
        metavar="TEXT",
        env="AUTODEPLOY_RUN_ID",
    ),
    Option(
        "result_log",
        "--autodeploy-result-log",
        "CSV file to which a row is added for each model and board of a run: memories, latency, "
        "energy, run id",
        metavar="FILE",
    ),
    Option(
        "openmetrics",
        "--autodeploy-openmetrics",
        "Also write the figures for Prometheus, as node_exporter's textfile collector reads them "
        "(FILE ends with .prom there)",
        metavar="FILE",
    ),
    Option(
        "trace",
        "--autodeploy-trace",
        "Also write what each process of the run did, and when, for https://ui.perfetto.dev or "
        "chrome://tracing (trace event JSON)",
        metavar="FILE",
        ini=None,
    ),
    Option(
        "keep_profiles",
        "--autodeploy-keep-profiles",
        "Folder in which the CSV of layers of every run is kept, under a name with its date",
        metavar="DIR",
    ),
    Option(
        "xlsx",
        "--autodeploy-xlsx",
        "Also write layers and figures as an .xlsx file beside the CSV (extra 'xlsx')",
        ini="bool",
        default=False,
        switch=True,
    ),
)
