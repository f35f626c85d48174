"""The tools that flash EVBs, by the words of ``--evb-flash-tool``."""

from __future__ import annotations

from pytest_autodeploy.board.jlink import JLink
from pytest_autodeploy.board.pyocd import PyOcd


def flash_tool(name: str) -> type[JLink] | type[PyOcd]:
    """The tool of that name, as ``--evb-flash-tool`` takes it."""
    return PyOcd if name == "pyocd" else JLink
