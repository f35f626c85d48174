"""What goes wrong before firmware runs."""

from __future__ import annotations

from pytest_autodeploy.base.errors import AutodeployError


class BuildError(AutodeployError):
    """Firmware could not be built; the text has the compiler's or linker's lines that say why."""


class ToolMissing(BuildError):
    """A program that is needed is not installed, or is too old; the hint says where to get it."""


class TreeError(BuildError):
    """A folder of an SDK or of TensorFlow Lite Micro cannot be used: incomplete, or its licence."""
