"""The files that raw streams of meters are kept in, and those that are replayed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_autodeploy.base.names import file_name
from pytest_autodeploy.settings.meter_syntax import parse_choice

if TYPE_CHECKING:
    from pytest_autodeploy.limits.energy import Mode
    from pytest_autodeploy.power.replay import Replay
    from pytest_autodeploy.session.model_session import ModelSession
    from pytest_autodeploy.settings.settings import Settings

CAPTURES = "captures"
"""The folder below the results for what ``--autodeploy-save-capture`` keeps."""


class Captures:
    """The captures of a run, each opened when it is first needed; ``close`` releases them."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._replays: dict[Path, Replay] = {}

    @property
    def replayed(self) -> bool:
        """Whether captures stand in place of measurements."""
        power = self._settings.power
        return power is not None and parse_choice(power).kind == "replay"

    def path(self, session: ModelSession, mode: Mode) -> Path:
        """Where the raw stream of a measurement is kept."""
        model, board = file_name(session.model.name), file_name(session.board.id)
        name = f"{model}-{session.model.sha256[:8]}-{board}-{mode}.jls"
        return self._settings.output_path / CAPTURES / name

    def find(self, session: ModelSession, mode: Mode) -> Replay | None:
        """The capture of a clock mode; in a folder, the one of this model and board."""
        from pytest_autodeploy.power.replay import Replay

        path = self._settings.root / str(parse_choice(str(self._settings.power)).what)
        for file in sorted(path.rglob("*.jls")) if path.is_dir() else [path]:
            if file not in self._replays:
                self._replays[file] = Replay(file)
            replay = self._replays[file]
            if _is_of(replay, session, mode, strictly=path.is_dir()):
                return replay
        return None

    def close(self) -> None:
        """Release the captures that are replayed."""
        for replay in self._replays.values():
            replay.close()
        self._replays.clear()


def _is_of(replay: Replay, session: ModelSession, mode: Mode, *, strictly: bool) -> bool:
    about = replay.about
    if about is None:
        return not strictly and mode == session.clock
    same = (about.model_sha256, about.board) == (session.model.sha256, session.identity.board)
    return about.mode == mode and (same or not strictly)
