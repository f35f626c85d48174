"""What lives as long as the run: its models and data, the PC's side, boards, and their troubles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_autodeploy.run.boards import Boards
from pytest_autodeploy.run.data import RunData
from pytest_autodeploy.run.input_search import Searching
from pytest_autodeploy.run.models import Models
from pytest_autodeploy.run.pc import PcSide
from pytest_autodeploy.run.recordings import RunRecordings
from pytest_autodeploy.run.sensitivity import Sensing
from pytest_autodeploy.run.sessions import Sessions
from pytest_autodeploy.run.trouble import Troubles

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_autodeploy.base.progress import Progress
    from pytest_autodeploy.session.measured import TunedArena
    from pytest_autodeploy.settings.settings import Settings


class Runtime:
    """Owns everything that outlives one test; ``close`` releases it all.

    ``tuned`` are the arenas that were found, by SHA-256 of the model and id of the board.
    """

    def __init__(
        self, settings: Settings, progress: Progress, run_folder: Path | None = None
    ) -> None:
        self.settings = settings
        self.pc = PcSide(settings)
        self.models = Models(settings, lambda: self.pc.spares)
        self.data = RunData(settings, Searching(settings, self.pc, progress))
        self.boards = Boards(settings, run_folder)
        self.recordings = RunRecordings(settings)
        self.sessions = Sessions(settings, self.data, progress, self.recordings.begin)
        self.sensing = Sensing(settings, self.pc, progress)
        self.troubles = Troubles()
        self.tuned: dict[tuple[str, str], TunedArena] = {}

    def close(self) -> None:
        """Release meters, boards, ports, locks and processes."""
        self.boards.close()
        self.recordings.close()
        self.pc.close()
