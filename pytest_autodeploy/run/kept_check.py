"""Whether what the end of a run writes can be written, told before anything is touched."""

from __future__ import annotations

import os
from pathlib import Path

from pytest_autodeploy.base.errors import AutodeployError
from pytest_autodeploy.settings.settings import SettingError, Settings


def check_kept(settings: Settings) -> None:
    """See that what the end of a run writes can be written, and make nothing. Raises SettingError.

    Baselines, the history and the summary.
    """
    if settings.update_baseline:
        check_folder(settings.baselines_path, settings.sources["update_baseline"])
    if settings.summary:
        check_folder((settings.root / settings.summary).parent, settings.sources["summary"])
    for name in ("result_log", "openmetrics", "keep_profiles"):
        if path := getattr(settings, name):
            folder = settings.root / path
            is_folder = name == "keep_profiles"
            check_folder(folder if is_folder else folder.parent, settings.sources[name])
    _check_exports(settings)
    if settings.history_path:
        from pytest_autodeploy.baseline.history import History

        check_folder(settings.history_path.parent, settings.sources["history"])
        if settings.history_path.exists():
            try:
                History(settings.history_path).check()
            except AutodeployError as error:
                raise SettingError(f"{settings.sources['history']}: {error}") from None


def _check_exports(settings: Settings) -> None:
    try:
        if settings.result_log:
            from pytest_autodeploy.report.result_log import check_header

            check_header(settings.root / settings.result_log)
        if settings.xlsx:
            from pytest_autodeploy.report.xlsx import check_xlsx

            check_xlsx()
    except AutodeployError as error:
        raise SettingError(str(error)) from None


def check_folder(folder: Path, origin: str) -> None:
    """See that files could be written to a folder, and make nothing. Raises SettingError."""
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK):
        raise SettingError(
            f"{origin}: cannot write to the folder {folder}",
            hint="choose another folder, or change its permissions",
        )
