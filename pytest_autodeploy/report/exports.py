"""What a run leaves beside its results on demand: log of results, metrics, dated CSVs, .xlsx."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_autodeploy.base.files import write_bytes
from pytest_autodeploy.base.names import file_name
from pytest_autodeploy.profile.layer_csv import csv_text

if TYPE_CHECKING:
    from pytest_autodeploy.metrics.result import Result
    from pytest_autodeploy.profile.records import LayerProfile
    from pytest_autodeploy.settings.settings import Settings

Export = tuple[str, Callable[[], None]]
"""What is written, in words, and the function that does it, which may raise."""


def exports(results: Sequence[Result], settings: Settings, began: datetime) -> Iterator[Export]:
    """Everything that the settings ask for, each of which may fail alone."""
    root = settings.root
    if settings.result_log:
        from pytest_autodeploy.report.result_log import append_rows

        path = root / settings.result_log
        yield "the result log", partial(append_rows, path, results, began, settings.run_id)
    if settings.openmetrics:
        from pytest_autodeploy.report.openmetrics import write_openmetrics

        yield "the metrics", partial(write_openmetrics, root / settings.openmetrics, results, began)
    if settings.keep_profiles:
        folder = root / settings.keep_profiles
        yield "the kept profiles", partial(_keep_profiles, folder, results, began)
    if settings.xlsx:
        from pytest_autodeploy.report.xlsx import write_xlsx

        for result in results:
            write = partial(write_xlsx, result, settings.output_path)
            yield f"the .xlsx of {result.model.id}", write


def _keep_profiles(folder: Path, results: Sequence[Result], began: datetime) -> None:
    """A copy of each CSV, under a name that no other run has."""
    stamp = began.strftime("%Y%m%dT%H%M%SZ")
    for result in results:
        for profile in filter(None, (result.first_profile, result.profile)):
            text = csv_text(profile, result.board.recorded)
            write_bytes(_free(folder, _name(result, profile), stamp), text.encode())


def _name(result: Result, profile: LayerProfile) -> str:
    parts = (result.model.name, result.board.id or "no-board", result.board.clock or "")
    return file_name("-".join((*filter(None, parts), profile.run)))


def _free(folder: Path, name: str, stamp: str) -> Path:
    """A path that is not taken: two runs may begin in one second."""
    path, number = folder / f"{name}-{stamp}.csv", 2
    while path.exists():
        path, number = folder / f"{name}-{stamp}-{number}.csv", number + 1
    return path
