"""From a characterised model to what users take home, for any board of the catalog."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_autodeploy.catalog.kinds import real_id
from pytest_autodeploy.deliver.binaries import Binaries, attempt
from pytest_autodeploy.deliver.delivery import Delivery, LeftOut
from pytest_autodeploy.deliver.folders import why_not, write_sources
from pytest_autodeploy.deliver.library import LibraryBuilder
from pytest_autodeploy.deliver.sources import Sources
from pytest_autodeploy.image.firmware import BuildOptions
from pytest_autodeploy.settings.deliver_options import ARTIFACTS

if TYPE_CHECKING:
    from pytest_autodeploy.catalog.boards import BoardSpec
    from pytest_autodeploy.deliver.characterization import Characterization
    from pytest_autodeploy.image.trees import TflmTree
    from pytest_autodeploy.model.graph import Model


def sources_for(
    characterization: Characterization,
    model: Model,
    board: BoardSpec,
    options: BuildOptions,
    runtime: TflmTree | None,
) -> Sources:
    """The sources of a model for a board, with the memories and the padding of the options."""
    return Sources(
        characterization,
        model,
        board,
        runtime=runtime,
        model_memory=options.model_memory,
        arena_memory=options.arena_memory,
        arena_padding=options.arena_padding,
    )


def generate(
    model: Model,
    board: BoardSpec,
    out: Path,
    artifacts: Collection[str],
    characterization: Characterization,
    options: BuildOptions | None = None,
) -> Delivery:
    """Write the ``artifacts`` of a model for a board, which need not be the one it was tried on.

    Sources are always written. What cannot be built or run here is left out, and the delivery says
    why. Raises CharacterizationError for files of another model, ModelDoesNotFit with the sums when
    the memories of the board are too small, ResultsError.
    """
    options = options or BuildOptions()
    board_id = real_id(board)
    builder = LibraryBuilder(board, options, board_id=board_id)
    without_runtime: list[LeftOut] = []
    runtime = attempt("TFLM's headers", lambda: builder.tree, without_runtime, "ambiqsuite")
    sources = sources_for(characterization, model, board, options, runtime)
    written = write_sources(sources, artifacts, out)
    binaries = Binaries(sources, builder, options)
    steps = {
        "library": binaries.build_library,
        "validator": binaries.build_validator,
        "power": binaries.build_power,
    }
    left_out: list[LeftOut] = []
    for artifact in (name for name in ARTIFACTS if name in artifacts):
        reason = why_not(artifact, board)
        if reason:
            left_out.append(LeftOut(artifact, reason, artifact))
        elif artifact in steps:
            steps[artifact]()
        else:
            left_out += without_runtime
    written += binaries.write(out)
    library, program = (each and each.footprint for each in (binaries.library, binaries.program))
    return Delivery(
        model=model.name,
        board=board_id,
        out=out,
        written=tuple(written),
        left_out=tuple(left_out + binaries.left_out),
        footprints=tuple(each for each in (library, program, binaries.of_all_types) if each),
        runtime=binaries.library.runtime if binaries.library else "",
        example=binaries.example,
    )
