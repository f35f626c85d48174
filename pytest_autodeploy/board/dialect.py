"""What the board behind a port speaks: the protocol of this project, or that of neuralSPOT."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pytest_autodeploy.base.errors import BoardError, BoardTimeout, LinkError, WrongFirmware
from pytest_autodeploy.board.silence import with_advice
from pytest_autodeploy.model.counters import has_control_flow
from pytest_autodeploy.rpc.client import ValidatorClient
from pytest_autodeploy.rpc.link import Link
from pytest_autodeploy.rpc.stock_blocks import Blocks
from pytest_autodeploy.rpc.stock_calls import RESET, Expected
from pytest_autodeploy.rpc.stock_client import StockClient
from pytest_autodeploy.rpc.stock_link import StockLink

if TYPE_CHECKING:
    from pytest_autodeploy.catalog.boards import BoardSpec
    from pytest_autodeploy.model.graph import Model

Dialect = Literal["auto", "own", "stock"]

PROBE_S = 1.0
"""Stock firmware answers a fetch within milliseconds, over a UART within a third of a second."""

_WEDGED = (
    "stock firmware (of neuralSPOT's AutoDeploy) that was sent a part of a frame, or one of this "
    f"project's, waits for its end for ever: {RESET}"
)


def connect(
    url: str, board: str, spec: BoardSpec, dialect: Dialect, timeout_s: float
) -> ValidatorClient:
    """A client that speaks as the board does; a StockClient for stock firmware.

    ``auto`` asks in the stock dialect first: our firmware skips such a frame, theirs would wait for
    ever for the end of one of ours. Raises BoardUnavailable, BoardDied.
    """
    if dialect == "own":
        return ValidatorClient(Link(url, board=board), timeout_s)
    stock = StockLink(url, board=board)
    if dialect == "stock" or _answers(stock):
        return StockClient(stock, board=spec.name, core=spec.core, timeout_s=timeout_s)
    return ValidatorClient(Link(url, board=board, taken_from=stock), timeout_s)


def _answers(link: StockLink) -> bool:
    try:
        Blocks(link).fetch(PROBE_S)
    except (BoardTimeout, LinkError):
        return False
    except BoardError:
        link.close()
        raise
    return True


def expect(model: Model) -> Expected:
    """What can be compared of a model with stock firmware."""
    operators = tuple(operator.name for operator in model.operators)
    return Expected(
        name=model.name,
        inputs=tuple(tensor.bytes for tensor in model.inputs),
        outputs=tuple(tensor.bytes for tensor in model.outputs),
        operators=() if has_control_flow(model) else operators,
        stateful=model.stateful,
    )


def refuse_unproven(board: str, url: str) -> WrongFirmware:
    """The refusal of a board that does not prove its model, where that is required."""
    return WrongFirmware(
        f"{url} answers with stock firmware, which does not tell which model it runs",
        board=board,
        hint="--evb-require-proof refuses it: flash the board with this project's firmware "
        "(--evb-probe), or leave the option out",
    )


def with_reset(error: BoardError, url: str, dialect: Dialect) -> BoardError:
    """The error of a silent board with what to look at; where it may be stock firmware, a reset."""
    if dialect == "own" or not isinstance(error, (BoardTimeout, LinkError)):
        return with_advice(error, url)
    given = (error if dialect == "stock" else with_advice(error, url)).hint or ""
    if _WEDGED in given:
        return error
    hint = f"{given}\n  {_WEDGED}".strip()
    return type(error)(error.what, board=error.board, seconds=error.seconds, hint=hint)
