"""A board that does not answer: what to look at, with what this PC knows of its port."""

from __future__ import annotations

from pytest_autodeploy.base.errors import BoardError, BoardTimeout, LinkError
from pytest_autodeploy.rpc.ports import holders

NOT_YET = "load a model first, as the fixture model_session does"
"""For a call of a board that runs no model yet."""

_IDENTIFY = "identify"
_POWER = "power and cable: the board is on, and the cable carries data, not only power"
_FLASH = "it has to be that of this project, with the model: flash it"
_LATER = "the board may have crashed in the call, or need longer: --evb-timeout SECONDS"


def with_advice(error: BoardError, url: str) -> BoardError:
    """The error of a board behind the port ``url``, with what to look at when it was silent."""
    if not isinstance(error, (BoardTimeout, LinkError)):
        return error
    given = error.hint or ""
    if _POWER in given or _LATER in given:
        return error
    advice = things_to_check(url) if error.what.startswith(_IDENTIFY) else _LATER
    hint = f"{given}\n  {advice}" if given else advice
    return type(error)(error.what, board=error.board, seconds=error.seconds, hint=hint)


def things_to_check(url: str, firmware: str = "") -> str:
    """Lines on power, cable, port and ``firmware`` of a silent board, the likeliest first."""
    if "://" in url:
        place = f"port: the server behind {url} has to be connected with the board"
    else:
        others = holders(url)
        place = f"port: {url} has to be the board's own" + (
            f"; it is also open in {', '.join(others)}, which takes the answers" if others else ""
        )
    return "\n  ".join((_POWER, place, f"firmware: {firmware or _FLASH}"))
