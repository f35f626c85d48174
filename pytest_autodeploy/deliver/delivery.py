"""What was delivered for a model: files, what was left out and why, and what its parts take."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_autodeploy.base.text import join_lines

if TYPE_CHECKING:
    from pytest_autodeploy.deliver.example import ExampleRun
    from pytest_autodeploy.deliver.footprint import Footprint


@dataclass(frozen=True)
class LeftOut:
    """Something that could not be made or run, and why, with what to do about it.

    ``artifact`` is the one that is not made without it, "" when that is none.
    """

    what: str
    why: str
    artifact: str = ""

    @classmethod
    def of(cls, what: str, error: Exception, artifact: str = "") -> LeftOut:
        """With all that an error says, in one line."""
        return cls(what, join_lines(str(error).splitlines()), artifact)


@dataclass(frozen=True)
class Delivery:
    """The files of one model for one ``board``, all below ``out``.

    ``runtime`` names the TFLM that the library is made from, "" without a library. ``example`` is
    how the example ended on an emulated board. ``footprints`` are those of the library alone and
    of the example, as far as there are any.
    """

    model: str
    board: str
    out: Path
    written: tuple[Path, ...]
    left_out: tuple[LeftOut, ...]
    footprints: tuple[Footprint, ...]
    runtime: str
    example: ExampleRun | None

    @property
    def passed(self) -> bool:
        """Whether the example, as far as it ran, found that all outputs match."""
        return self.example is None or self.example.status == 0

    @property
    def mismatch(self) -> str:
        """How the example ended that found other outputs, "" when it did not."""
        if self.example is None or self.passed:
            return ""
        return (
            f"{self.model} on {self.board}: the generated example ended with status "
            f"{self.example.status}\n{self.example.output}"
        )

    def not_made(self, asked: Collection[str]) -> str:
        """Which of the artifacts that were asked for by name are not there, and why; or ""."""
        lines = [f"  {each.what}: {each.why}" for each in self.left_out if each.artifact in asked]
        if not lines:
            return ""
        return "\n".join(
            [
                f"{self.model} on {self.board}: asked for {', '.join(asked)}, but not made:",
                *lines,
                "  hint: `all` instead of names makes what can be made here",
            ]
        )
