"""The artifacts of a model for a board: what they are made from, and making them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_autodeploy.board.probe import ProbeUnavailable
from pytest_autodeploy.catalog.kinds import KINDS
from pytest_autodeploy.deliver.characterize import characterize
from pytest_autodeploy.run.delivery import deliver as make
from pytest_autodeploy.run.delivery import earlier_characterization

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_autodeploy.catalog.boards import BoardSpec
    from pytest_autodeploy.cli.bench import Bench
    from pytest_autodeploy.deliver.characterization import Characterization
    from pytest_autodeploy.deliver.delivery import Delivery
    from pytest_autodeploy.limits.tolerance import Tolerance


def characterization(bench: Bench, tolerance: Tolerance) -> Characterization:
    """The one that the settings name, which touches no board, or that of the model on this one.

    Raises DeliveryError, and BoardError: of a board that is not at hand with what to do instead.
    """
    earlier = earlier_characterization(bench.runtime.settings, bench.model)
    if earlier is not None:
        return earlier
    try:
        reference = bench.runtime.pc.reference(bench.model)
        return characterize(bench.session, reference, tolerance, probe=True)
    except ProbeUnavailable as error:
        instead = _instead(bench.board.spec)
        hint = f"{error.hint}\n  {instead}" if error.hint else instead
        raise type(error)(error.what, board=error.board, seconds=error.seconds, hint=hint) from None


def deliver(bench: Bench, found: Characterization, out: Path) -> Delivery:
    """Make the artifacts that the settings name for the board. Raises as ``generate``."""
    return make(bench.runtime, bench.model, bench.board.spec, found, out)


def _instead(spec: BoardSpec) -> str:
    others = [kind.prefix + spec.name for kind in KINDS if kind.prefix and spec.is_of(kind.part)]
    return (
        "without the board: --from DIR takes what an earlier run has found out, and "
        f"--board {' or '.join(others)} characterises on this PC"
    )
