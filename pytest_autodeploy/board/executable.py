"""The image that a virtual board executes: built as for the board itself, or given by the user."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_autodeploy.base.errors import BoardUnavailable

if TYPE_CHECKING:
    from pytest_autodeploy.catalog.boards import BoardSpec
    from pytest_autodeploy.catalog.fit import Placement
    from pytest_autodeploy.image.firmware import BuildOptions
    from pytest_autodeploy.image.image import Image
    from pytest_autodeploy.image.image_builder import ImageBuilder


@dataclass(frozen=True)
class Executable:
    """A file to run; the build id that its firmware names and its memories, where known."""

    path: Path
    build_id: str | None
    placement: Placement | None = None


ImageSource = Callable[["Image"], Executable]


def image_source(
    board_id: str,
    spec: BoardSpec,
    options: BuildOptions,
    *,
    file: Path | None = None,
    licence_ok: bool = False,
) -> ImageSource:
    """Where the images of a board come from: its SDK's build, or ``file``.

    Nothing is built yet. What a build contains is checked; of a ``file`` the user has to say that
    its licences allow it. Raises BoardUnavailable.
    """
    if file is not None:
        return _given(board_id, file, licence_ok)
    if spec.has_sdk:
        from pytest_autodeploy.image.neuralspot import NeuralSpotBuilder

        builder: ImageBuilder = NeuralSpotBuilder(spec, options, emulated=board_id)
        suffix = ".axf"
    else:
        from pytest_autodeploy.image.cmake import CMakeBuilder

        builder, suffix = CMakeBuilder(spec, options, board_id=board_id), ".elf"

    def built(image: Image) -> Executable:
        made = builder.build(image)
        return Executable(made.file(suffix), made.build_id, builder.placement(image))

    return built


def _given(board_id: str, file: Path, licence_ok: bool) -> ImageSource:
    if not file.is_file():
        raise BoardUnavailable(
            f"--evb-image: no such file: {file}",
            board=board_id,
            hint="a relative path starts where pytest was started",
        )
    if not licence_ok:
        raise BoardUnavailable(
            f"--evb-image {file}: what it contains is not known, and some runtimes are licensed "
            "for Ambiq CPUs only",
            board=board_id,
            hint="Give --evb-image-licence-ok when its licences allow any CPU.",
        )
    return lambda _image: Executable(file, None)
