"""The recordings of a run: one file for each model and board."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_autodeploy.base.names import file_name
from pytest_autodeploy.base.record_file import MOST_FILE_BYTES, SUFFIX, RecordWriter
from pytest_autodeploy.board.recorded.recorder import Recorder
from pytest_autodeploy.catalog.recording import HEAD, RecordingHead

if TYPE_CHECKING:
    from pytest_autodeploy.board.base import Board
    from pytest_autodeploy.catalog.kind import Kind
    from pytest_autodeploy.model.graph import Model


class Recordings:
    """Makes the recorder of each model and board in ``folder``; ``close`` closes their files.

    ``has_meter`` says whether a board has a power meter.
    """

    def __init__(
        self,
        folder: Path,
        has_meter: Callable[[str], bool] = lambda _board: False,
        most_bytes: int = MOST_FILE_BYTES,
    ) -> None:
        self._folder = folder
        self._has_meter = has_meter
        self._most_bytes = most_bytes
        self._recorders: dict[tuple[str, str], Recorder] = {}

    def of(self, model: Model, board: Board, kind: Kind) -> Recorder:
        """The recorder of a model on a board; its file is begun anew by each run.

        Raises ResultsError.
        """
        key = (model.sha256, board.id)
        if key not in self._recorders:
            writer = RecordWriter(self._path(model, board), self._most_bytes)
            writer.add(HEAD, self._head(model, board, kind))
            self._recorders[key] = Recorder(writer, stateful=model.stateful)
        return self._recorders[key]

    def close(self) -> None:
        """Close the files."""
        for recorder in self._recorders.values():
            recorder.close()

    def _path(self, model: Model, board: Board) -> Path:
        worker = os.environ.get("PYTEST_XDIST_WORKER", "")
        parts = (file_name(board.id), file_name(model.name), model.sha256[:8], worker)
        return self._folder / ("-".join(part for part in parts if part) + SUFFIX)

    def _head(self, model: Model, board: Board, kind: Kind) -> bytes:
        import msgspec

        head = RecordingHead(
            recorded=datetime.now(UTC).isoformat(timespec="seconds"),
            kind=kind.name,
            board=board.spec.name,
            model=file_name(model.name),
            model_sha256=model.sha256,
            package=_version(),
            serial=getattr(board, "serial", None) or "",
            image_sha256=getattr(board, "image_sha256", None) or "",
            meter=self._has_meter(board.id),
        )
        return msgspec.json.encode(asdict(head))


@cache
def _version() -> str:
    """Of this package: to look it up takes milliseconds."""
    return version("pytest-autodeploy")
