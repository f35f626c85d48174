"""The board proves what it runs: its identity is held against the image that it should run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_autodeploy.base.errors import WrongFirmware

if TYPE_CHECKING:
    from pytest_autodeploy.image.image import Image
    from pytest_autodeploy.rpc.messages import Identity


def check_identity(
    identity: Identity,
    image: Image,
    board: str,
    *,
    name: str | None = None,
    build_id: str | None = None,
) -> None:
    """Raise WrongFirmware unless the board runs the image's model.

    With ``name`` it has to be that board, with ``build_id`` it has to run that very build.
    """
    if name is not None and identity.board != name:
        raise WrongFirmware(
            f"the port answers as {identity.board!r}, not as {name!r}",
            board=board,
            hint=f"Use --evb {identity.board}, or the port of the {name}.",
        )
    found = identity.model_sha256.hex()
    if found != image.model.sha256:
        runs = f"a model of SHA-256 {found[:12]}…" if found else "no model"
        raise WrongFirmware(
            f"it runs {runs}, not {image.model.name} ({image.model.sha256[:12]}…)",
            board=board,
            hint="Flash the board with this model before you attach to it.",
        )
    if build_id is not None and identity.build_id != build_id:
        raise WrongFirmware(
            f"it runs the build {identity.build_id!r} of {image.model.name}, not {build_id!r}",
            board=board,
            hint="Older firmware still runs: the new one did not reach the board.",
        )
