"""What pytest overlooks of a project when a path stands behind an option.

pytest looks for its root folder and its ini file before plugins have added their options. It takes
``--evb-port /dev/pts/5`` for an argument and ``/dev/pts`` for the root; with an equals sign,
``--evb-port=/dev/pts/5``, it does not.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from pytest_autodeploy.settings.option import Option
from pytest_autodeploy.settings.options import OPTIONS
from pytest_autodeploy.settings.settings import Settings

OWN = ("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini")
SHARED = {"pyproject.toml": "[tool.pytest", "tox.ini": "[pytest]", "setup.cfg": "[tool:pytest]"}


def overlooked_ini(config: pytest.Config) -> Path | None:
    """The project's ini file, if it is not the one that pytest has read."""
    if _chosen(config):
        return None
    path = _ini(Path(config.invocation_params.dir))
    if config.inipath is None:
        return path
    another = path and path.resolve() != config.inipath.resolve()
    return path if another and _misled(config) and _all_inside(config) else None


def overlooked_ini_line(config: pytest.Config) -> list[str]:
    """A line for the header when the project's ini file was not read."""
    path = overlooked_ini(config)
    return [f"autodeploy: {_told(path, config)}"] if path else []


def check_rootdir(config: pytest.Config, settings: Settings) -> None:
    """Raise UsageError when something of the project was lost.

    That are settings of this plugin in the ini file, a conftest.py and the folder of baselines.
    """
    path = overlooked_ini(config)
    if path and "autodeploy_" in path.read_text(errors="replace"):
        raise pytest.UsageError(_told(path, config))
    if _chosen(config) or not _misled(config):
        return
    for lost in _lost(config, settings):
        raise pytest.UsageError(_told(lost, config))


def _chosen(config: pytest.Config) -> bool:
    """Whether the user has named the root folder or the ini file."""
    return bool(config.option.rootdir or config.option.inifilename)


def _ini(start: Path) -> Path | None:
    """The nearest ini file of pytest, in a folder or above it."""
    for folder in (start, *start.parents):
        for name in (*OWN, *SHARED):
            path = folder / name
            if path.is_file() and SHARED.get(name, "") in path.read_text(errors="replace"):
                return path
    return None


def _lost(config: pytest.Config, settings: Settings) -> Iterator[Path]:
    """The files and folders of the project that this run does without."""
    for folder in _project(Path(config.invocation_params.dir)):
        conftest = folder / "conftest.py"
        unread = not config.pluginmanager.has_plugin(str(conftest))
        if unread and conftest.is_file() and not config.option.noconftest:
            yield conftest
        baselines, read = folder / settings.baselines, settings.baselines_path
        chosen = "baselines" in settings.sources
        if not chosen and baselines.is_dir() and baselines.resolve() != read.resolve():
            yield baselines


def _project(start: Path) -> list[Path]:
    """The folders from where pytest was started up to that of the project's ini file."""
    ini = _ini(start)
    if ini is None:
        return [start]
    return [folder for folder in (start, *start.parents) if folder.is_relative_to(ini.parent)]


def _all_inside(config: pytest.Config) -> bool:
    """Whether all tests are of the folder that pytest was started in."""
    start = Path(config.invocation_params.dir).resolve()
    return all((start / arg.split("::")[0]).resolve().is_relative_to(start) for arg in config.args)


def _misled(config: pytest.Config) -> list[Option]:
    """The options whose value pytest took for an argument: a path outside of the project."""
    start = Path(config.invocation_params.dir)
    flags = {f: each for each in OPTIONS if not each.switch for f in (each.flag, *each.aliases)}
    words = [*shlex.split(os.environ.get("PYTEST_ADDOPTS", "")), *config.invocation_params.args]
    found = {}
    for flag, value in pairwise(words):
        path = os.path.normpath(start / str(value).split("::")[0])
        # os.path.exists is False for a value that no system takes for a path.
        if flag in flags and os.path.exists(path) and not Path(path).is_relative_to(start):  # noqa: PTH110
            found[flag] = flags[str(flag)]
    return list(found.values())


def _told(path: Path, config: pytest.Config) -> str:
    misled = _misled(config)
    shown = " and ".join(f"{each.flag}={each.metavar}" for each in misled) or "--tflite=PATH"
    return (
        f"{path} was not {'found' if path.is_dir() else 'read'}, because pytest took "
        f"{config.rootpath} for the root folder; write {shown} with an equals sign, or add -c"
    )
