"""What a bug report is made of: results, recordings, versions, what doctor says, in one zip."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_autodeploy.base.anonymous import anonymous
from pytest_autodeploy.base.errors import AutodeployError
from pytest_autodeploy.base.record_file import MOST_FILE_BYTES, SUFFIX
from pytest_autodeploy.report.provenance import provenance

RESULT = "result.json"
TEXTS = (".json", ".csv", ".xml", ".md")
_MOST_TEXT = 8 << 20
_MOST_PARTS = 1000


class BugReportError(AutodeployError):
    """There is nothing to report, or it cannot be written."""


@dataclass(frozen=True)
class Part:
    """A file of the report, and why it may be large or private."""

    name: str
    content: bytes


@dataclass
class BugReport:
    """The parts of a report; ``left_out`` are files of the run that it does not have."""

    parts: list[Part] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def write(self, path: Path) -> None:
        """Write the zip; a file that is there is not replaced. Raises BugReportError."""
        try:
            with zipfile.ZipFile(path, "x", zipfile.ZIP_DEFLATED) as file:
                for part in self.parts:
                    file.writestr(part.name, part.content)
        except OSError as error:
            raise BugReportError(
                f"cannot write {path}: {error.strerror or error}",
                hint="name another file: --out FILE.zip",
            ) from None


def collect(
    folder: Path,
    doctor: Sequence[Mapping[str, Any]],
    recordings: Sequence[Path],
    *,
    with_model: bool,
) -> BugReport:
    """The report of the run whose results are in ``folder``, the ``--autodeploy-output`` of it.

    Text is made anonymous, recordings are without names anyway. Models are left out, and what holds
    one, unless ``with_model``; so are inputs, outputs and raw streams. Raises BugReportError.
    """
    report, models = BugReport(), set()
    if not any(folder.rglob(RESULT)):
        raise BugReportError(
            f"{folder} has no results of a run",
            hint="give the folder that the run's last line names, such as autodeploy-results",
        )
    for path in _files(folder):
        name = path.relative_to(folder).as_posix()
        if path.suffix in TEXTS and path.stat().st_size <= _MOST_TEXT:
            text = path.read_text(encoding="utf-8", errors="replace")
            if path.name == RESULT:
                models |= set(_model_of(text))
                text = _without_command(text)
            report.parts.append(Part(f"results/{name}", anonymous(text).encode()))
        elif path.suffix != SUFFIX:
            report.left_out.append(name)
    for path in _recordings(folder, recordings):
        report.parts.append(Part(f"recordings/{path.name}", path.read_bytes()))
    plain = json.dumps({"doctor": doctor, "versions": vars(provenance())}, indent=2, default=dict)
    report.parts.append(Part("environment.json", anonymous(plain).encode()))
    if with_model:
        report.parts += _models(sorted(models))
    return report


def _files(folder: Path) -> Iterator[Path]:
    found = (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink())
    for number, path in enumerate(found):
        if number == _MOST_PARTS:
            raise BugReportError(
                f"{folder} has more than {_MOST_PARTS} files",
                hint="give the folder of one model and board in it",
            )
        yield path


def _recordings(folder: Path, more: Iterable[Path]) -> Iterator[Path]:
    """Those in the results folder, and those that were named, as files or as folders of them."""
    seen = set()
    for place in (folder, *more):
        if not place.exists():
            raise BugReportError(
                f"there is no recording {place}", hint="--evb-record DIR makes one"
            )
        for path in sorted(place.rglob(f"*{SUFFIX}")) if place.is_dir() else [place]:
            if path.stat().st_size <= MOST_FILE_BYTES and path.name not in seen:
                seen.add(path.name)
                yield path


def _model_of(text: str) -> Iterator[str]:
    """The path of the model of a result, where it says one."""
    try:
        found = json.loads(text)["model"]["path"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return
    if isinstance(found, str) and found:
        yield found


def _without_command(text: str) -> str:
    """A result without the line that was typed, and with the name of its model for its path."""
    try:
        result = json.loads(text)
        result["run"]["command"] = None
        result["model"]["path"] = Path(result["model"]["path"]).name
    except (ValueError, TypeError, KeyError, RecursionError):
        return text
    return json.dumps(result, indent=2)


def _models(paths: Iterable[str]) -> Iterator[Part]:
    for name in paths:
        path = Path(name)
        if not path.is_file():
            raise BugReportError(
                f"the model {path.name} is not where the run had it",
                hint="start from the folder that pytest was started in, or leave --with-model out",
            )
        yield Part(f"models/{path.name}", path.read_bytes())
