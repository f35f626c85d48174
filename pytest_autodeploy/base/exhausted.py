"""What this PC has run out of, such as room on a disk or open files, and what to do about it."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping

from pytest_autodeploy.base.errors import AutodeployError

_HINTS: Mapping[int, str] = {
    errno.ENOSPC: "make room there; temporary files go where TMPDIR says",
    errno.EDQUOT: "your quota there is used up; temporary files go where TMPDIR says",
    # its words begin with those of the next one
    errno.ENFILE: "this PC has no more open files to give: end other programs",
    errno.EMFILE: "a process may not have more files open here: raise the limit, ulimit -n 1024",
    errno.EFBIG: "a file may not be that large here: raise the limit, ulimit -f unlimited",
    errno.ENOMEM: "the memory of this PC is full: end other programs, or run less at once",
}


class PcExhausted(AutodeployError):
    """This PC has no more of something; neither the model nor the board is to blame."""


def exhausted(error: BaseException) -> PcExhausted | None:
    """An error of the system that says so, in words; None for any other error.

    Also of one that was raised while such an error was handled, unless it has words of ours.
    """
    for each in _chain(error):
        if isinstance(each, AutodeployError):
            return None
        if isinstance(each, OSError) and each.errno in _HINTS:
            return _explain(each).with_traceback(error.__traceback__)
    return None


def advice_on(text: str) -> str | None:
    """What to do when the words of another process say so; None when they do not."""
    for code, hint in _HINTS.items():
        if os.strerror(code) in text:
            return hint
    return None


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: BaseException | None = error
    while seen is not None:
        yield seen
        seen = seen.__cause__ or seen.__context__


def _explain(error: OSError) -> PcExhausted:
    code = error.errno or 0
    where = f": {error.filename}" if error.filename is not None else ""
    return PcExhausted(f"this PC: {os.strerror(code)}{where}", hint=_HINTS[code])
