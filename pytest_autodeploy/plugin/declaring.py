"""The options and markers of the plugin, as pytest is told of them."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_autodeploy.limits.declarations import DECLARATIONS
from pytest_autodeploy.settings.options import OPTIONS

MARKERS = (
    "tflite(path): run the test on the model at that path: a file, a folder or a glob, relative "
    "to the test's folder or to the root folder",
    "evb(*names): run the test on these boards instead of those of --evb",
    *(f"{each.usage}: {each.marker_help}" for each in DECLARATIONS),
)


def add_options(parser: pytest.Parser) -> None:
    """Register every option and its ini twin."""
    group = parser.getgroup("autodeploy", "TensorFlow Lite models on evaluation boards")
    for option in OPTIONS:
        details: dict[str, Any] = {
            # argparse formats help texts with %.
            "help": option.help.replace("%", "%%"),
            "dest": option.dest,
            "default": None,
        }
        if option.switch:
            details["action"] = "store_true"
        else:
            details["metavar"] = option.metavar
            details["action"] = "append" if option.repeatable else "store"
            if option.bare:
                details |= {"nargs": "?", "const": option.bare}
        group.addoption(option.flag, **details)
        if option.ini:
            parser.addini(option.ini_name, f"see {option.flag}", type=option.ini, default=None)


def add_markers(config: pytest.Config) -> None:
    """Register every marker."""
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)
