"""Checks of the settings, made before anything is collected and before any board is touched."""

from __future__ import annotations

import errno
import os

from pytest_autodeploy.board.select import check_names, link_arguments
from pytest_autodeploy.config import SettingError, Settings
from pytest_autodeploy.errors import AutodeployError
from pytest_autodeploy.limits import LimitError, declare_text


def check_settings(settings: Settings, *, write: bool) -> None:
    """Raise SettingError for the first setting that cannot work.

    With ``write`` the results folder of a run with models is made.
    """
    try:
        check_names(settings.evb, settings)
        _check_models(settings)
        _check_limits(settings)
    except (AutodeployError, LimitError) as error:
        raise SettingError(str(error)) from None
    link_arguments(settings.evb_sim_link)
    if settings.evb_port is not None and len(settings.evb) > 1:
        raise SettingError("--evb-port is the port of one board; give --evb once")
    if settings.inputs is not None and not (settings.root / settings.inputs).is_file():
        raise SettingError(f"{settings.sources['inputs']}: no such file: {settings.inputs}")
    if write and settings.tflite:
        check_output(settings)


def check_output(settings: Settings) -> None:
    """Make the results folder and see that it can be written. Raises SettingError."""
    folder = settings.output_path
    origin = settings.sources.get("output", "--autodeploy-output")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".gitignore"
        if not probe.exists():
            probe.write_text("# made by pytest-autodeploy\n*\n", encoding="utf-8")
        elif not os.access(folder, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        reason = error.strerror or str(error)
        raise SettingError(f"{origin}: cannot write to the folder {folder}: {reason}") from None


def _check_models(settings: Settings) -> None:
    if settings.tflite:
        from pytest_autodeploy.model.find import find_models

        find_models(settings.tflite, settings.root)


def _check_limits(settings: Settings) -> None:
    for name in ("output_tolerance", "latency_budget", "memory_limit"):
        text = getattr(settings, name)
        if text is not None:
            declare_text(name, text, settings.sources[name])
