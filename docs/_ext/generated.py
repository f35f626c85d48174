"""Fills `<!-- generated: NAME -->` in the pages with what the code says; see `tables`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from docs._ext.messages import messages
from docs._ext.tables import TABLES

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_PLACE = re.compile(r"^<!-- generated: (\S+) -->$", re.MULTILINE)

MAKERS: Mapping[str, Callable[[], str]] = {**TABLES, "messages": messages}


def fill(text: str) -> str:
    """The text of a page with its places filled. Raises KeyError for a name that nothing makes."""
    return _PLACE.sub(lambda place: MAKERS[place[1]](), text)


def _fill_source(_app: Sphinx, _page: str, source: list[str]) -> None:
    source[0] = fill(source[0])


def _keep_stars(_app: Sphinx, _what: str, _name: str, _object: object, *rest: object) -> None:
    """``(n, *shape)`` in a docstring is no emphasis."""
    lines = rest[-1]
    assert isinstance(lines, list)
    lines[:] = [re.sub(r"(?<![\w*`\\])\*(?=\w)", r"\\*", line) for line in lines]


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx calls this."""
    app.connect("source-read", _fill_source)
    app.connect("autodoc-process-docstring", _keep_stars)
    return {"parallel_read_safe": True}
