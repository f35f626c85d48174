"""What is in the folder of each artifact, and the tree that these folders make.

Below the output folder, ``<name>`` being the model's C identifier::

    <name>/lib/                    the static library and its header
    <name>/src/                    what the library is made from, and an example that calls it
    <name>_ambiqsuite_example/     the same without neuralSPOT: gcc, armclang, make, src
    <name>_power/                  marks windows of inferences on pins, for a power meter
    tflm_validator/                the firmware that the tests talk to
    <name>_mc.json, <name>_md.json the characterisation
    bin/                           example, validator and power application for the board
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_autodeploy.base.templates import render
from pytest_autodeploy.deliver import ambiqsuite, apps
from pytest_autodeploy.deliver.files import texts
from pytest_autodeploy.deliver.gnu import CORE_FLAGS
from pytest_autodeploy.deliver.replace import Files, replace_files

if TYPE_CHECKING:
    from pytest_autodeploy.catalog.boards import BoardSpec
    from pytest_autodeploy.deliver.sources import Sources

_NO_BOARD = "{} is a machine of QEMU: there is no AmbiqSuite for it, and no power to measure"


def write_sources(sources: Sources, artifacts: Collection[str], out: Path) -> list[Path]:
    """Write the characterisation and the folders of the ``artifacts`` of ``options.ARTIFACTS``.

    Files of an earlier call for the model are replaced or removed, all others stay. Raises
    ResultsError.
    """
    files: Files = dict(texts(sources.characterization))
    for artifact in artifacts:
        if not why_not(artifact, sources.board):
            folder = folder_name(artifact, sources.name)
            made = _MAKERS[artifact](sources)
            files |= {f"{folder}/{name}": content for name, content in made.items()}
    return replace_files(out, files, group=f"{sources.name}-sources")


def folder_name(artifact: str, name: str) -> str:
    """The folder of an artifact of the model with the C identifier ``name``."""
    names = {
        "library": name,
        "ambiqsuite": f"{name}_ambiqsuite_example",
        "validator": "tflm_validator",
        "power": f"{name}_power",
    }
    return names[artifact]


def why_not(artifact: str, board: BoardSpec) -> str | None:
    """Why an artifact does not exist for a board, or None."""
    with_sdk = artifact in ("ambiqsuite", "power")
    return _NO_BOARD.format(board.name) if with_sdk and not board.has_sdk else None


def library(sources: Sources) -> Files:
    """The folder of the library, which for an EVB is one of neuralSPOT's apps: the example."""
    headers = [f"{sources.name}_{end}.h" for end in ("api", "neuralspot")]
    made = sources.library() | sources.example(sources.console)
    files: Files = {f"src/{name}": text for name, text in made.items() if name not in headers}
    files |= {f"lib/{name}": made[name] for name in headers}
    context = {
        **sources.context,
        "board": sources.board,
        "flags": CORE_FLAGS[sources.board.core],
        "runtime": sources.runtime.version if sources.runtime else "",
    }
    if sources.board.has_sdk:
        compiled = sorted(set(sources.example(sources.console)) - set(sources.library()))
        context["sources"] = [name for name in compiled if not name.endswith(".h")]
        files["module.mk"] = render("library.mk", context, "deliver")
    return files | {"README.md": render("library_README.md", context, "deliver")}


_MAKERS = {
    "library": library,
    "ambiqsuite": ambiqsuite.files,
    "validator": apps.validator,
    "power": apps.power,
}
