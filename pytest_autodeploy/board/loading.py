"""A model that is not in the image: the host loads it into the board, which has to prove it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from pytest_autodeploy.base.errors import BoardError, BoardRefused, WrongFirmware
from pytest_autodeploy.base.progress import show_task
from pytest_autodeploy.base.units import si
from pytest_autodeploy.rpc.messages import Capability, Status

if TYPE_CHECKING:
    from pytest_autodeploy.image.image import Image
    from pytest_autodeploy.rpc.client import ValidatorClient
    from pytest_autodeploy.rpc.messages import Identity

LOG = logging.getLogger(__name__)


def takes_model(identity: Identity) -> bool:
    """Whether the firmware has no model but a place for one."""
    return Capability.MODEL_UPLOAD in identity.capabilities


def with_model(client: ValidatorClient, identity: Identity, image: Image, board: str) -> Identity:
    """What a board that takes its model over the link says once it holds and has proven this one.

    Of other boards it is what they said. A board that holds the model already reads it again: what
    is in RAM may have been damaged since. Raises WrongFirmware when the board cannot keep the
    model, and another BoardError when it breaks.
    """
    if not takes_model(identity):
        return identity
    if identity.model_sha256.hex() == image.model.sha256 and _still_there(client, image):
        return identity
    size = si(image.model.size_bytes, "B")
    with show_task(f"loading {image.model.name} ({size}) into the memory of {board}"):
        _load(client, image, board)
    return client.identify()


def _still_there(client: ValidatorClient, image: Image) -> bool:
    try:
        return client.prove_model(image.model.size_bytes).hex() == image.model.sha256
    except BoardRefused as refusal:
        LOG.debug("%s: %s", client.board, refusal.text)
        return False


def _load(client: ValidatorClient, image: Image, board: str) -> None:
    model = image.model
    LOG.debug("%s: load %d bytes of %s", board, model.size_bytes, model.name)
    try:
        client.begin_model(model.size_bytes, bytes.fromhex(model.sha256))
        client.write_model(model.content)
        found = client.prove_model(model.size_bytes).hex()
    except BoardRefused as refusal:
        raise _explained(refusal, image, board) from None
    if found != model.sha256:
        said = f"it holds a model of SHA-256 {found[:12]}…, not {model.sha256[:12]}…"
        raise _damaged(image, board, said)


def _explained(refusal: BoardRefused, image: Image, board: str) -> BoardError:
    if refusal.status == Status.BAD_MODEL.name:
        return _damaged(image, board, refusal.text)
    if refusal.status == Status.NO_MEMORY.name:  # which is no matter of the arena
        return WrongFirmware(
            f"its firmware was built for a smaller model than {image.model.name}: {refusal.text}",
            board=board,
            hint="flash the board with this model: --evb-probe",
        )
    return refusal


def _damaged(image: Image, board: str, said: str) -> WrongFirmware:
    return WrongFirmware(
        f"{image.model.name} arrived damaged: {said}",
        board=board,
        hint="run again; if it stays so, the memory outside of the chip or the link loses bytes",
    )
