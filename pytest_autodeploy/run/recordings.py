"""What a run records of its boards, and what its end says of it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pytest_autodeploy.base.errors import ResultsError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_autodeploy.board.recorded.recordings import Recordings
    from pytest_autodeploy.session.model_session import ModelSession
    from pytest_autodeploy.settings.settings import Settings


class RunRecordings:
    """Records each session of a run when ``--evb-record`` says so; ``close`` closes the files."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._recordings: Recordings | None = None

    def begin(self, session: ModelSession) -> None:
        """Record a session from its next load on."""
        if self._settings.evb_record is None:
            return
        if self._recordings is None:
            from pytest_autodeploy.board.recorded.recordings import Recordings
            from pytest_autodeploy.settings.meter_choice import board_has_meter

            has_meter = partial(board_has_meter, settings=self._settings)
            folder = self._settings.root / self._settings.evb_record
            self._recordings = Recordings(folder, has_meter)
        session.recording.to = self._recordings

    def close(self) -> None:
        """Close the files."""
        if self._recordings is not None:
            self._recordings.close()


def recording_lines(settings: Settings, began_s: float) -> Iterator[str]:
    """The files that were recorded since a moment of ``time.time``, and their sizes.

    Raises ResultsError when there are none.
    """
    if settings.evb_record is None:
        return
    from pytest_autodeploy.base.record_file import MOST_FILE_BYTES, SUFFIX

    folder = settings.root / settings.evb_record
    files = sorted(folder.glob(f"*{SUFFIX}")) if folder.is_dir() else []
    written = [file for file in files if file.stat().st_mtime >= began_s]
    if not written:
        raise ResultsError(
            "nothing was recorded: no board has loaded a model",
            hint=f"{settings.sources['evb_record']} records boards of --evb that run models",
        )
    for file in written:
        size = file.stat().st_size
        full = ", full: what came later is missing" if size > MOST_FILE_BYTES - (1 << 20) else ""
        yield f"recorded {settings.evb_record}/{file.name} ({size / 1024:.1f} KB{full})"
