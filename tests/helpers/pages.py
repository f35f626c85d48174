"""The pages of the documentation and their samples, for tests that hold them against the code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"(?:^|[\s'/])(?P<program>pytest|autodeploy) (?P<rest>.+)$")


def pages() -> list[Path]:
    """README, the site's pages, and the READMEs of the examples."""
    found = [README, *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")]
    return sorted(found)


@dataclass(frozen=True)
class Sample:
    """A fenced block of a page: its ``language``, empty for none, and its text."""

    page: Path
    number: int
    language: str
    text: str

    @property
    def name(self) -> str:
        """A name for a file or a test."""
        stem = "_".join(self.page.relative_to(ROOT).with_suffix("").parts).replace("-", "_")
        return f"{stem}_{self.number}"

    def commands(self) -> Iterator[tuple[str, str]]:
        """The lines that call pytest or the command: program and arguments."""
        for line in self.text.splitlines():
            if found := _COMMAND.search(line.split(" #")[0].removeprefix("$ ")):
                rest = found["rest"].strip()
                quoted = rest.count("'") % 2  # the command is in quotes itself
                yield found["program"], rest.removesuffix("'" * quoted)


def samples(*languages: str) -> list[Sample]:
    """The samples of all pages in these languages."""
    return [
        Sample(page, number, language, text)
        for page in pages()
        for number, (language, text) in enumerate(_FENCE.findall(page.read_text(encoding="utf-8")))
        if language in languages
    ]
