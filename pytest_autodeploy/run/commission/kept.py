"""What is left of a commissioning: its zip."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_autodeploy.base.anonymous import anonymous
from pytest_autodeploy.base.errors import ResultsError
from pytest_autodeploy.base.names import file_name
from pytest_autodeploy.base.record_file import SUFFIX
from pytest_autodeploy.report.provenance import provenance

if TYPE_CHECKING:
    from pytest_autodeploy.run.commission.commission import Commissioning


def write_zip(found: Commissioning, recordings: Path, folder: Path) -> Path:
    """Put rows, versions and recordings into one file in a folder. Raises ResultsError."""
    stamp = re.sub(r"[^0-9T]", "", found.date[:19])
    path = folder / f"commission-{file_name(found.board)}-{stamp}.zip"
    plain = {"format": 1, **found.plain(), "made_with": vars(provenance())}
    text = anonymous(json.dumps(plain, indent=2, default=dict))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(path, "x", zipfile.ZIP_DEFLATED) as file:
            file.writestr("commission.json", text)
            for recording in sorted(recordings.glob(f"*{SUFFIX}")):
                file.write(recording, f"recordings/{recording.name}")
    except OSError as error:
        raise ResultsError(
            f"cannot write {path}: {error.strerror or error}", hint="name another folder: --out DIR"
        ) from None
    return path
