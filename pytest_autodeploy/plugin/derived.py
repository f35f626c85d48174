"""Works out what pytest is told at the start, from options and limits; see ``declarations``."""

from __future__ import annotations

import json
from typing import Any

from pytest_autodeploy.limits.declarations import DECLARATIONS
from pytest_autodeploy.plugin.declarations import FILE
from pytest_autodeploy.settings.option import Option
from pytest_autodeploy.settings.options import OPTIONS

MARKERS = (
    "tflite(path): run the test on the model at that path: a file, a folder or a glob, relative "
    "to the test's folder or to the root folder",
    "evb(*names): run the test on these boards instead of those of --evb",
    *(f"{each.usage}: {each.marker_help}" for each in DECLARATIONS),
)


def write() -> None:
    """Write ``declared.json`` anew, after a change of an option or of a declaration."""
    FILE.write_text(text(), encoding="utf-8")


def text() -> str:
    """The content of ``declared.json``."""
    declared = {"options": [_option(option) for option in OPTIONS], "markers": MARKERS}
    return json.dumps(declared, indent=1, ensure_ascii=False) + "\n"


def _option(option: Option) -> dict[str, Any]:
    ini = {"name": option.ini_name, "type": option.ini} if option.ini else None
    return {
        "flag": option.flag,
        "aliases": option.aliases,
        "group": option.group,
        "details": _details(option),
        "ini": ini,
        "env": option.env,
    }


def _details(option: Option) -> dict[str, Any]:
    """The arguments of argparse, which formats help texts with %."""
    details: dict[str, Any] = {
        "help": option.help.replace("%", "%%"),
        "dest": option.dest,
        "default": None,
    }
    if option.switch:
        return {**details, "action": "store_true"}
    details["metavar"] = option.metavar
    details["action"] = "append" if option.repeatable else "store"
    if option.bare:
        details |= {"nargs": "?", "const": option.bare}
    return details
