"""Whether TFLM survives preparing a model: found out in a fork, which may crash in its place.

TFLM does not check its own first allocations, nor all of those of its kernels: in an arena that is
too small it may write to address 0 and beyond the arena's end.
"""

from __future__ import annotations

import contextlib
import os
import signal
import warnings
from typing import TYPE_CHECKING

from pytest_autodeploy.base import trace
from pytest_autodeploy.sim.tflm import Tflm

if TYPE_CHECKING:
    from pytest_autodeploy.model.graph import Model

AMPLE_BYTES = 64 << 20
"""An arena in which only a damaged model crashes."""

STUCK_S = 60


_survived: set[tuple[str, int, bool]] = set()
"""What has been tried and did not crash: a model is prepared several times in each test."""


def crashes_for_want_of_memory(model: Model, arena_bytes: int, *, keep: bool) -> bool:
    """Whether preparing the model crashes in an arena of this size, and does not in an ample one.

    False where a process cannot fork.
    """
    if not hasattr(os, "fork"):
        return False
    tried = (model.sha256, arena_bytes, keep)
    if tried in _survived:
        return False
    if not _crashes(model, arena_bytes, keep=keep):
        _survived.add(tried)
        return False
    return not _crashes(model, max(AMPLE_BYTES, arena_bytes), keep=keep)


def _crashes(model: Model, arena_bytes: int, *, keep: bool) -> bool:
    from tflite_micro import runtime  # noqa: F401  # a fork cannot wait for an import of a thread

    with warnings.catch_warnings():
        # The child runs C++ alone and ends: what other threads held does not matter to it.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        _prepare_and_end(model, arena_bytes, keep=keep)
    with trace.span("prepare in a fork"):
        _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) != signal.SIGALRM


def _prepare_and_end(model: Model, arena_bytes: int, *, keep: bool) -> None:
    """In the child: what TFLM says is said again by the parent, and a hang ends."""
    with contextlib.suppress(BaseException):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(STUCK_S)
        Tflm(model, arena_bytes, keep=keep)
    os._exit(0)
