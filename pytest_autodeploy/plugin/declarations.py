"""The options and markers of the plugin, as pytest is told of them.

Every pytest that has the plugin installed is told, also one that tests no model. Options and
markers follow from the declarations of the metrics; to work them out takes longer than all else at
the start, so what comes out is kept in ``declared.json``, which ``make derived`` writes anew.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest

HEADINGS = {
    "models": "TensorFlow Lite models on evaluation boards",
    "boards": "TensorFlow Lite models: the boards",
    "measuring": "TensorFlow Lite models: measuring and limits",
    "results": "TensorFlow Lite models: results, baselines and deliverables",
}
"""The headings of ``pytest --help``, by the group of an option."""

OLD_NAMES = """
    --ambiqsuite-version --arena-location --arena-size-scratch-buffer-padding --cpu-mode
    --create-ambiqsuite-example --create-library --create-profile --dataset
    --destination-rootdir --full-pmu-capture --joulescope --max-arena-size --measure-power
    --model-location --model-name --neuralspot-rootdir --no-create-binary --no-create-library
    --no-create-profile --no-random-data --nocompile-mode --onboard-perf --platform
    --pmu-config-file --profile-results-path --profile-warmup --reserve-dtcm-kb
    --reserve-dtcm-percent --reserve-mram-kb --reserve-mram-percent --reserve-sram-kb
    --reserve-sram-percent --resultlog-file --run-log-id --runs-power --tensorflow-version
    --tflite-filename --tflm-location --toolchain --transport --tty
"""
"""Options of AutoDeploy, see ``old_names``; loading that only for these keeps the start cheap."""

SEVERAL = {"args": "Several with spaces between", "string": "Several with ';' between"}
"""What an ini file has in the place of an option that is given twice."""

FILE = Path(__file__).with_name("declared.json")


@cache
def _declared() -> dict[str, Any]:
    declared: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return declared


def add_options(parser: pytest.Parser) -> None:
    """Register every option and its ini twin."""
    groups = {n: parser.getgroup(f"autodeploy-{n}", title) for n, title in HEADINGS.items()}
    for option in _declared()["options"]:
        flags = (option["flag"], *option["aliases"])
        groups[option["group"]].addoption(*flags, **option["details"])
        if ini := option["ini"]:
            parser.addini(ini["name"], ini_help(option), type=ini["type"], default=None)


def ini_help(option: dict[str, Any]) -> str:
    """The help of an option in the words of an ini file, which formats nothing with %."""
    text: str = option["details"]["help"].replace("%%", "%")
    several = SEVERAL[option["ini"]["type"]] if option["details"].get("action") == "append" else ""
    return f"{text.replace('Repeatable', several)} [{option['flag']}]"


def add_markers(config: pytest.Config) -> None:
    """Register every marker."""
    for marker in _declared()["markers"]:
        config.addinivalue_line("markers", marker)


@cache
def marker_names() -> frozenset[str]:
    """The names of the markers."""
    return frozenset(marker.partition("(")[0] for marker in _declared()["markers"])


def is_asked(config: pytest.Config) -> bool:
    """Whether the command line, the ini file or the environment sets an option of the plugin."""
    return any(
        config.getoption(option["details"]["dest"]) is not None
        or (option["ini"] and config.getini(option["ini"]["name"]) not in (None, []))
        or _in_environment(option["env"])
        for option in _declared()["options"]
    )


def _in_environment(name: str | None) -> bool:
    import os

    return bool(name and os.environ.get(name))


def answer_old_names(parser: pytest.Parser, args: Sequence[str]) -> None:
    """Raise pytest.UsageError for options of AutoDeploy that nobody else knows."""
    names = tuple(OLD_NAMES.split())
    if any(arg.startswith(names) for arg in args):
        from pytest_autodeploy.plugin.old_names import answer

        answer(parser.parse_known_and_unknown_args(args)[1])
