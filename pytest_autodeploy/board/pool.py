"""The boards of a rig that a run may use: which there are of a type, and which is leased next."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pytest_autodeploy.base.errors import BoardUnavailable
from pytest_autodeploy.base.lease import Lease, LeaseHeld, holder_of, take_one_of
from pytest_autodeploy.base.lease_holder import Holder
from pytest_autodeploy.board.lock import in_use
from pytest_autodeploy.board.usb_ports import exists, port_identity, probe_identity
from pytest_autodeploy.catalog.rig import Rig, RigBoard
from pytest_autodeploy.catalog.rig_state import RigState, TakenOut

State = Literal["free", "leased", "taken out", "missing"]


@dataclass(frozen=True)
class Standing:
    """How it stands with a board: ``out`` of service, leased by ``holder``, or not ``there``."""

    board: RigBoard
    out: TakenOut | None
    holder: Holder | None
    there: bool

    @property
    def state(self) -> State:
        """In one word."""
        if self.out is not None:
            return "taken out"
        if self.holder is not None:
            return "leased"
        return "free" if self.there else "missing"

    @property
    def text(self) -> str:
        """``free``, or why it cannot be used now."""
        if self.out is not None:
            now = f"; leased by {self.holder.text}" if self.holder else ""
            return f"taken out {self.out.text}{now}"
        if self.holder is not None:
            return f"leased by {self.holder.text}"
        return "free" if self.there else f"missing port {self.board.port}"


class Pool:
    """The boards of a rig. Further ``states`` say which are out, too; they are read each time."""

    def __init__(self, rig: Rig, *states: RigState) -> None:
        self.rig = rig
        self.state = RigState.beside(rig.path)
        """The boards that people, or runs, have taken out, beside the rig file."""
        self._states = (self.state, *states)

    def also(self, *states: RigState) -> None:
        """Leave out what these say is taken out, too."""
        self._states += states

    def out(self) -> dict[str, TakenOut]:
        """The boards that are taken out, by name. Raises RigStateError."""
        return {name: out for state in self._states for name, out in state.read().items()}

    def candidates(self, board_id: str, avoid: Collection[str] = ()) -> list[RigBoard]:
        """The boards that may be used for an id, those that are there first.

        Those whose names are to be avoided, and those that are taken out, are left out. Raises
        BoardUnavailable, which says why, when none is left; RigStateError.
        """
        out = self.out()
        boards = self.rig.of(board_id)
        left = [each for each in boards if each.name not in avoid and each.name not in out]
        if not left:
            raise _none_left(board_id, boards, out, avoid, self.rig.path)
        return sorted(left, key=lambda each: not _is_there(each))

    def take(
        self, board_id: str, candidates: Sequence[RigBoard], timeout_s: float
    ) -> tuple[RigBoard, list[Lease]]:
        """Lease the first of the boards that is free, or wait for any of them.

        Raises BoardUnavailable that says who has one.
        """
        names = ", ".join(each.name for each in candidates)
        what = f"board {names}" if len(candidates) == 1 else f"one of the boards {names}"
        try:
            number, leases = take_one_of([claims(each) for each in candidates], timeout_s, what)
        except LeaseHeld as error:
            raise in_use(what, board_id, error) from None
        return candidates[number], leases

    def standings(self) -> list[Standing]:
        """How it stands with every board. Raises RigStateError."""
        out = self.out()
        return [
            Standing(each, out.get(each.name), _holder(each), _is_there(each))
            for each in self.rig.boards
        ]


def claims(board: RigBoard) -> list[str]:
    """What has to be leased to have a board: its probe, else its port."""
    if board.probe is not None:
        return [probe_identity(board.probe)]
    return [port_identity(str(board.port))]


def _holder(board: RigBoard) -> Holder | None:
    ports = [port_identity(board.port)] if board.port else []
    return next(filter(None, map(holder_of, [*claims(board), *ports])), None)


def _is_there(board: RigBoard) -> bool:
    """Whether its port is; that of a board with a probe may come with the firmware."""
    return board.port is None or exists(board.port)


def _none_left(
    board_id: str,
    boards: Sequence[RigBoard],
    out: dict[str, TakenOut],
    avoid: Collection[str],
    path: Path,
) -> BoardUnavailable:
    why = [f"{each.name}: taken out {out[each.name].text}" for each in boards if each.name in out]
    why += [
        f"{each.name}: broke in this run, or has no meter" for each in boards if each.name in avoid
    ]
    return BoardUnavailable(
        f"no board of {path} is left: {'; '.join(why)}",
        board=board_id,
        hint="`autodeploy boards --rig FILE` shows them, --put-back NAME puts one back"
        + (", --lift NAME --quarantine FILE lifts one" if _quarantined(out) else ""),
    )


def _quarantined(out: dict[str, TakenOut]) -> bool:
    return any(each.why == "quarantine" for each in out.values())
