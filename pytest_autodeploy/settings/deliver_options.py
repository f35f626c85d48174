"""The options of what is delivered for a model."""

from __future__ import annotations

from pytest_autodeploy.settings.option import Option

ARTIFACTS = ("library", "ambiqsuite", "validator", "power")
"""What can be made for a model, see ``folders``."""


ALL = "all"
"""All artifacts, each as far as it can be made here; one that is named has to be made."""


def chosen(text: str) -> tuple[str, ...]:
    """The artifacts of a list such as ``library,power``, or ``all``; ValueError for others."""
    names = [name.strip() for name in text.split(",")]
    unknown = [name for name in names if name not in (*ARTIFACTS, ALL)]
    if unknown:
        raise ValueError(f"{unknown[0]!r} is not one of {', '.join(ARTIFACTS)}, all")
    return (ALL,) if ALL in names else tuple(name for name in ARTIFACTS if name in names)


DELIVER_OPTIONS = (
    Option(
        "artifacts",
        "--autodeploy-artifacts",
        "What to make for each model and board whose outputs agree with the PC's: library, "
        "ambiqsuite (example), validator, power, separated by commas, or all; sources always, "
        "binaries where the toolchain and the SDK are there; one that is named here and cannot "
        "be made is a failure, of all (and of the ini file) it is a note",
        metavar="NAMES",
        default=(),
        convert=chosen,
    ),
    Option(
        "artifacts_from",
        "--autodeploy-from",
        "Make the artifacts from the characterisation in this folder, NAME_mc.json and "
        "NAME_md.json of a run on another board, instead of measuring: no board is touched",
        metavar="DIR",
    ),
)
