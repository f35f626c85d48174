"""An error in words, whoever made it."""

from __future__ import annotations

from pathlib import Path

from pytest_autodeploy.base.errors import AutodeployError
from pytest_autodeploy.base.exhausted import exhausted
from pytest_autodeploy.base.text import writable

_PACKAGE = Path(__file__).parent.parent


def text_of(error: Exception, what: str) -> str:
    """An error in words: ours as they are; any other is a fault of ours in making ``what``."""
    if isinstance(error, AutodeployError):
        return str(error)
    if known := exhausted(error):
        return f"{what} could not be made: {known}"
    return writable(
        f"{what} could not be made: {type(error).__name__}: {error}{_place(error)}"
        "\n  This is a fault of pytest-autodeploy: please report it."
    )


def _place(error: Exception) -> str:
    """The last line of this package that the error went through."""
    place, trace = "", error.__traceback__
    while trace:
        path = Path(trace.tb_frame.f_code.co_filename)
        if path.is_relative_to(_PACKAGE):
            place = f" ({path.relative_to(_PACKAGE).as_posix()}:{trace.tb_lineno})"
        trace = trace.tb_next
    return place
