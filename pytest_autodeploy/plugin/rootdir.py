"""The ini file that pytest overlooks when a path stands behind an option.

pytest looks for its root folder and its ini file before plugins have added their options. It takes
``--tflite /elsewhere/model.tflite`` for an argument and the model's folder for the root; with
``--tflite=/elsewhere/model.tflite`` it does not.
"""

from __future__ import annotations

from pathlib import Path

import pytest

OWN = ("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini")
SHARED = {"pyproject.toml": "[tool.pytest", "tox.ini": "[pytest]", "setup.cfg": "[tool:pytest]"}


def overlooked_ini(config: pytest.Config) -> Path | None:
    """The project's ini file, if it is not the one that pytest has read."""
    option = config.option
    if config.inipath is not None or option.rootdir or option.inifilename:
        return None
    start = Path(config.invocation_params.dir)
    for folder in (start, *start.parents):
        for name in (*OWN, *SHARED):
            path = folder / name
            if path.is_file() and SHARED.get(name, "") in path.read_text(errors="replace"):
                return path
    return None


def overlooked_ini_line(config: pytest.Config) -> list[str]:
    """A line for the header when the project's ini file was not read."""
    path = overlooked_ini(config)
    return [f"autodeploy: {_told(path, config)}"] if path else []


def check_rootdir(config: pytest.Config) -> None:
    """Raise UsageError when settings of this plugin were not read: limits would be lost."""
    path = overlooked_ini(config)
    if path and "autodeploy_" in path.read_text(errors="replace"):
        raise pytest.UsageError(_told(path, config))


def _told(path: Path, config: pytest.Config) -> str:
    return (
        f"{path} was not read, because pytest took {config.rootpath} for the root folder; "
        "write --tflite=PATH with an equals sign, or add -c"
    )
