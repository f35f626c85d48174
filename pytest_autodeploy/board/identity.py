"""The board proves what it runs: its identity is held against the image that it should run.

Before a flash it may show that there is no need for one.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pytest_autodeploy.base.errors import OtherModel, WrongFirmware
from pytest_autodeploy.board.loading import takes_model, with_model

if TYPE_CHECKING:
    from pytest_autodeploy.image.image import Image
    from pytest_autodeploy.rpc.client import ValidatorClient
    from pytest_autodeploy.rpc.messages import Identity


class Firmware(Protocol):
    """Firmware that was built for an image: its files, and how it will name itself."""

    @property
    def build_id(self) -> str:
        """The build id that the firmware answers with."""

    def file(self, suffix: str) -> Path:
        """One of its files; ``.bin`` is what goes to the board's load address."""


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
    if identity.model_sha256.hex() != image.model.sha256:
        raise OtherModel(
            f"it runs {_model_of(identity)}, not {image.model.name} ({image.model.sha256[:12]}…)",
            board=board,
            hint="Flash the board with this model before you attach to it.",
        )
    if build_id is not None and identity.build_id != build_id:
        raise WrongFirmware(
            f"it runs the build {identity.build_id!r} of {image.model.name}, not {build_id!r}",
            board=board,
            hint="Older firmware still runs: the new one did not reach the board.",
        )


def prove(
    client: ValidatorClient,
    identity: Identity,
    image: Image,
    board: str,
    *,
    name: str | None = None,
    build_id: str | None = None,
) -> Identity:
    """What the board says once it has the image's model, which is loaded if need be.

    Raises WrongFirmware as `check_identity`, and another BoardError when it breaks.
    """
    identity = with_model(client, identity, image, board)
    check_identity(identity, image, board, name=name, build_id=build_id)
    return identity


def loaded(
    client: ValidatorClient,
    identity: Identity,
    image: Image,
    firmware: Firmware,
    *,
    board: str,
    name: str,
) -> Identity:
    """What a board says once it has the model, where it is the one that runs this build."""
    same = _runs_build(identity, firmware, name)
    return with_model(client, identity, image, board) if same else identity


def has_image(identity: Identity, image: Image, firmware: Firmware, name: str) -> bool:
    """Whether a flash changes nothing: a model that the host loads is no part of the image."""
    if takes_model(identity):
        return _runs_build(identity, firmware, name)
    return runs(identity, image, firmware, name)


def runs(identity: Identity, image: Image, firmware: Firmware, name: str) -> bool:
    """Whether it is the board ``name`` that answers and runs this build of this model."""
    same = identity.model_sha256.hex() == image.model.sha256
    return same and _runs_build(identity, firmware, name)


def _runs_build(identity: Identity, firmware: Firmware, name: str) -> bool:
    """Whether it is the board ``name`` that answers and runs this build."""
    return (identity.board, identity.build_id) == (name, firmware.build_id)


def wrong_firmware(
    identity: Identity,
    before: Identity | None,
    image: Image,
    firmware: Firmware,
    *,
    board: str,
    name: str,
) -> WrongFirmware:
    """Why an identity is not that of the image which was flashed to the board ``name``.

    ``before`` is what the board said before the flash, None when it said nothing.
    """
    wanted = f"{image.model.name} ({image.model.sha256[:12]}…, build {firmware.build_id})"
    if before == identity:
        return WrongFirmware(
            f"the flash did nothing: the board still runs {_what(identity)}, not {wanted}",
            board=board,
            hint="The probe may be wired to another board than the port: check --evb-probe and "
            "--evb-port.",
        )
    if identity.model_sha256.hex() != image.model.sha256:
        difference = f"another model: {_what(identity)}, not {wanted}"
    elif identity.build_id != firmware.build_id:
        difference = f"another build of the model: {_what(identity)}, not {wanted}"
    else:
        difference = f"another board: {identity.board!r}, not {name!r}"
    return WrongFirmware(
        f"after the flash the board answers with {difference}",
        board=board,
        hint="The port may be that of another board, or another program flashes this one.",
    )


def _what(identity: Identity) -> str:
    return f"{_model_of(identity)} (build {identity.build_id})"


def _model_of(identity: Identity) -> str:
    found = identity.model_sha256.hex()
    return f"a model of SHA-256 {found[:12]}…" if found else "no model"
