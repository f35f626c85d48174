"""What a recording says of itself: its first record, from which its kind of board is made."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_autodeploy.base.record_file import RecordingError, read_records

if TYPE_CHECKING:
    from pytest_autodeploy.catalog.kind import Kind

HEAD = 1
"""The type of the first record; the others are those of ``board.recorded.notes``."""

_LONGEST = 200


@dataclass(frozen=True)
class RecordingHead:
    """Of which board and model a recording is, and when it was begun (ISO 8601, UTC).

    ``kind`` is that of the table of kinds, ``board`` the name in the catalog, ``serial`` that of
    the probe, empty where there is none. ``meter``: the board had a power meter.
    """

    recorded: str
    kind: str
    board: str
    model: str
    model_sha256: str
    package: str
    serial: str = ""
    image_sha256: str = ""
    meter: bool = False

    @property
    def text(self) -> str:
        """What each report says of figures that come from it."""
        of = f"{self.board}, serial {self.serial}" if self.serial else self.board
        return f"recorded on {self.recorded[:10]} from {of}"


def head_of(path: Path) -> RecordingHead:
    """The head of a recording. Raises RecordingError."""
    try:
        state = path.stat()
    except OSError as error:
        raise RecordingError(
            f"cannot read the recording {path}: {error.strerror or error}",
            hint="--evb recorded:FILE takes a file that --evb-record DIR left in DIR",
        ) from None
    return _head_of(path, state.st_mtime_ns, state.st_size)


@functools.lru_cache(maxsize=64)
def _head_of(path: Path, changed_ns: int, size: int) -> RecordingHead:
    del changed_ns, size  # of the key: a file that changes is read anew
    first = next(read_records(path), None)
    if first is None or first.type != HEAD:
        raise RecordingError(f"the recording {path} does not say of which board it is")
    return parse_head(path, first.payload)


def parse_head(path: Path, payload: bytes) -> RecordingHead:
    """The head that a record holds, when it can be true. Raises RecordingError."""
    import msgspec

    try:
        head = msgspec.json.decode(payload, type=RecordingHead)
        datetime.fromisoformat(head.recorded)
    except (msgspec.MsgspecError, ValueError) as error:
        raise RecordingError(f"the head of the recording {path} cannot be read: {error}") from None
    texts = (head.recorded, head.kind, head.board, head.model, head.package, head.serial)
    if not all(text.isprintable() and len(text) <= _LONGEST for text in texts):
        raise RecordingError(f"the head of the recording {path} cannot be true")
    if not re.fullmatch("[0-9a-f]{64}", head.model_sha256):
        raise RecordingError(f"the recording {path} does not say of which model it is")
    return head


def kind_of_recording(path: Path, recorded: Kind, kinds: tuple[Kind, ...]) -> Kind:
    """The kind of a recording: the board's own, but that nothing is needed and nothing runs.

    ``recorded`` is the row of recordings. Raises RecordingError.
    """
    head = head_of(path)
    own = next((kind for kind in kinds if kind.name == head.kind and kind != recorded), None)
    if own is None:
        raise RecordingError(f"{path} is of an unknown kind of board, {head.kind!r:.60}")
    return replace(
        own,
        prefix=recorded.prefix,
        runs=recorded.runs,
        noun=recorded.noun,
        is_hardware=False,
        needs=(),
        attachable=False,
        own_meter=head.meter,
        options=(),
        make=None,
        recorded=head.text,
    )
