"""Which headers a C or C++ source includes, directly or through others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from posixpath import dirname, join, normpath

_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*["<]([^">\r\n]+)[">]', re.MULTILINE)


def included_files(texts: Iterable[bytes], roots: Sequence[Path]) -> dict[str, Path]:
    """The files that ``texts`` include, by the name under which the ``roots`` have them.

    A name is sought in the roots, then beside the file that includes it. Conditions are not looked
    at, and what is nowhere (the C library) is left out.
    """
    found: dict[str, Path] = {}
    waiting = [("", name) for text in texts for name in _names(text)]
    while waiting:
        beside, name = waiting.pop()
        for candidate in {normpath(name), normpath(join(beside, name))} - found.keys():
            path = next((root / candidate for root in roots if (root / candidate).is_file()), None)
            if path is not None and not candidate.startswith(("/", "..")):
                found[candidate] = path
                beside_it = dirname(candidate)
                waiting += [(beside_it, each) for each in _names(path.read_bytes())]
    return dict(sorted(found.items()))


def _names(text: bytes) -> list[str]:
    return [name.decode(errors="replace") for name in _INCLUDE.findall(text)]
