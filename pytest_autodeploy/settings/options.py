"""Every option of the plugin, each with its ini twin and its default; limits are derived."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_autodeploy.limits.declarations import DECLARATIONS
from pytest_autodeploy.settings.baseline_options import BASELINE_OPTIONS
from pytest_autodeploy.settings.board_options import BOARD_OPTIONS
from pytest_autodeploy.settings.deliver_options import DELIVER_OPTIONS
from pytest_autodeploy.settings.file_options import FILE_OPTIONS
from pytest_autodeploy.settings.model_options import MODEL_OPTIONS
from pytest_autodeploy.settings.npu_options import NPU_OPTIONS
from pytest_autodeploy.settings.option import Option, in_group, positive_float
from pytest_autodeploy.settings.power_options import POWER_OPTIONS

if TYPE_CHECKING:
    from pytest_autodeploy.limits.declaration import Declaration

_OPTIONS = (
    *MODEL_OPTIONS,
    *NPU_OPTIONS,
    *in_group("boards", BOARD_OPTIONS),
    Option(
        "cache",
        "--autodeploy-cache",
        "Folder for what need not be computed twice, or off (default: the user's cache folder)",
        metavar="DIR",
    ),
    Option(
        "output",
        "--autodeploy-output",
        "Folder for results (default: autodeploy-results)",
        metavar="DIR",
        default="autodeploy-results",
    ),
    Option(
        "unjudged",
        "--autodeploy-unjudged",
        "What becomes of tests whose limits cannot be judged on this PC for want of a power meter "
        "or an extra: fail (the default), or skip, which the summary counts; without effect beside "
        "--evb-require-hardware and --autodeploy-compare",
        metavar="MODE",
        ini=None,
        default="fail",
        choices=("fail", "skip"),
        env="AUTODEPLOY_UNJUDGED",
        group="measuring",
    ),
    Option(
        "summary",
        "--autodeploy-summary",
        "Markdown file for a summary of the run; also added to $GITHUB_STEP_SUMMARY if that is set",
        metavar="FILE",
    ),
    Option(
        "explain",
        "--autodeploy-explain",
        "Explain why outputs differ, and in which operator that starts: auto: explain failures; "
        "layers: compare the operators of outputs that agree, too; off: never (default: auto)",
        metavar="MODE",
        default="auto",
        choices=("auto", "layers", "off"),
        group="measuring",
    ),
    Option(
        "sensitivity",
        "--autodeploy-sensitivity",
        "Find out, for each operator, whether the inputs would notice if it were wrong (with the "
        "extra 'sim')",
        ini="bool",
        default=False,
        switch=True,
        group="measuring",
    ),
    Option(
        "sensitivity_time",
        "--autodeploy-sensitivity-time",
        "Seconds that it may take for a model to find out what inputs would notice, or to search "
        "such that notice more (default: 120)",
        metavar="SECONDS",
        ini="float",
        default=120.0,
        convert=positive_float,
        group="measuring",
    ),
    *BASELINE_OPTIONS,
    *FILE_OPTIONS,
    *DELIVER_OPTIONS,
    *in_group("measuring", POWER_OPTIONS),
)


def limit_option(declaration: Declaration) -> Option:
    """The option of a limit, and its ini twin. Both take several limits, separated by ``;``."""
    return Option(
        declaration.name,
        declaration.flag,
        f"{declaration.option_help}. Repeatable",
        metavar="LIMIT",
        ini="args" if declaration.listed else "string",
        default=(),
        repeatable=True,
        limit=True,
        group="measuring",
        aliases=declaration.aliases,
    )


OPTIONS = (*_OPTIONS, *(limit_option(declaration) for declaration in DECLARATIONS))
"""All options: those above, and one for each limit that can be declared."""
