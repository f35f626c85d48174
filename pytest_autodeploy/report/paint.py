"""Verdicts and sources in a line of a table, found so that a terminal can colour them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from pytest_autodeploy.base.measurement import UNPROVEN

Look = Mapping[str, bool]
"""Markup of pytest's terminal."""

_RED: Look = {"red": True, "bold": True}
_GREEN: Look = {"green": True}
_YELLOW: Look = {"yellow": True}
_LOOKS: Mapping[str, Look] = {
    "FAIL": _RED,
    "FAILED": _RED,
    "ERROR": _RED,
    "NOT JUDGED": _RED,
    "FLAKY": _YELLOW,
    "NOTE": _YELLOW,
    "pass": _GREEN,
    "skipped": _YELLOW,
    "xfailed": _YELLOW,
    "xpassed": _YELLOW,
    "measured": _GREEN,
    "emulated": {"cyan": True},
    "modelled": {"blue": True},
    "estimated": {"purple": True},
    UNPROVEN: _YELLOW,
}
_SOURCES = f"measured|emulated|modelled|estimated|{UNPROVEN}"
# A cell of its own, at the start of a line or behind two spaces; a verdict may have remarks behind.
_CELL = re.compile(
    r"(?:^|(?<=  ))(?P<red>FAIL|FAILED|ERROR|NOT JUDGED|FLAKY|NOTE)(?=[, ]|$)"
    r"|(?<=  )(?P<pass>pass|skipped|xfailed|xpassed)(?P<remarks>, .*)?(?=  |$)"
    rf"|(?<=  )(?P<source>{_SOURCES})(?=  |$)"
    rf"|(?<=: )(?P<heading>{_SOURCES})$"
)


def paint(line: str) -> Iterator[tuple[str, Look]]:
    """The parts of a line, each with its look; one part with none where there is nothing to see."""
    end = 0
    for found in _CELL.finditer(line):
        if found.start() > end:
            yield line[end : found.start()], {}
        word = found[found.lastgroup or 0] if not found["pass"] else found["pass"]
        yield found[0], _YELLOW if found["remarks"] else _LOOKS[word]
        end = found.end()
    if end < len(line) or not line:
        yield line[end:], {}
