"""SIGTERM, by which CI systems cancel a job, ends a run as Ctrl-C does: nothing is left behind."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import NoReturn


def interrupt_on_sigterm() -> Callable[[], None]:
    """Let SIGTERM raise KeyboardInterrupt from now on; gives what undoes that.

    A program that handles SIGTERM by itself keeps its handler.
    """
    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        return lambda: None
    signal.signal(signal.SIGTERM, _interrupt)
    return _restore


def _interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a second one must not break the cleaning up
    raise KeyboardInterrupt("SIGTERM")


def _restore() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
