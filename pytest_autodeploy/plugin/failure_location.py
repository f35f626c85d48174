"""Where a failure is shown: in the user's test, and not in the plugin that ran it."""

from __future__ import annotations

import inspect
import os
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

import pytest_autodeploy
from pytest_autodeploy.base.errors import AutodeployError
from pytest_autodeploy.base.exhausted import exhausted
from pytest_autodeploy.plugin.suite.collector import in_suite

_PACKAGE = str(Path(pytest_autodeploy.__file__).parent) + os.sep
_SUITE = Path(pytest_autodeploy.__file__).parent / "plugin" / "suite"
_BUILTIN = (str(_SUITE / "builtin.py"), str(_SUITE / "over_pins.py"))
"""Built-in tests are shown as if they were the user's."""

_NOT_THE_USERS = (
    _PACKAGE,
    *(sysconfig.get_path(name) + os.sep for name in ("stdlib", "purelib", "platlib")),
    str(Path(pytest.__file__).parents[1]) + os.sep,
)
"""Folders of this package, of Python and of what is installed."""

Location = tuple[str, int]
"""A file and a line, from 1 on."""


@contextmanager
def shown_in_test(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """While pytest makes its report, an error of ours ends at the line of the test that raised it.

    The frames below are those of this package: the error's message says it all. ``--full-trace``
    keeps them, and so does ``--pdb``.
    """
    excinfo = call.excinfo
    kept = _frames_to_show(item, call) if excinfo else []
    if not excinfo or not kept:
        yield
        return
    # pytest has no hook to cut the end of a traceback, and --tb=native reads Python's own one.
    call.excinfo = pytest.ExceptionInfo.from_exc_info((excinfo.type, excinfo.value, _chain(kept)))
    try:
        yield
    finally:
        call.excinfo = excinfo


def _frames_to_show(item: pytest.Item, call: pytest.CallInfo[None]) -> list[TracebackType]:
    """From the test's body to the last frame of the user; none when the error is not ours."""
    if call.when != "call" or item.config.getoption("fulltrace", False):
        return []
    assert call.excinfo is not None
    error = call.excinfo.value
    if not isinstance(error, AutodeployError) or not raised_in_body(item, error):
        return []
    frames = list(_frames(error.__traceback__))
    first = next(index for index, frame in enumerate(frames) if _is_body(frame, item))
    last = max(index for index, frame in enumerate(frames) if _is_users(frame, item))
    return frames[first : last + 1]


def raised_in_body(item: pytest.Item, error: BaseException) -> bool:
    """Whether the test itself raised an error, and not the plugin before or after it."""
    return any(_is_body(frame, item) for frame in _frames(error.__traceback__))


def raised_by_us(error: BaseException) -> bool:
    """Whether an error comes from this package, or from what it called, and not from a test."""
    for frame in reversed(list(_frames(error.__traceback__))):
        file = frame.tb_frame.f_code.co_filename
        if file.startswith(_PACKAGE):
            return file not in _BUILTIN
        if not file.startswith(_NOT_THE_USERS):
            return False
    return False


def exhausted_by_us(error: BaseException) -> AutodeployError | None:
    """What this PC has run out of, when an error of this package says so."""
    return exhausted(error) if raised_by_us(error) else None


def _is_body(frame: TracebackType, item: pytest.Item) -> bool:
    if not isinstance(item, pytest.Function):
        return False
    return frame.tb_frame.f_code is getattr(inspect.unwrap(item.function), "__code__", None)


def _frames(traceback: TracebackType | None) -> Iterator[TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


def _chain(frames: list[TracebackType]) -> TracebackType:
    chain: TracebackType | None = None
    for frame in reversed(frames):
        chain = TracebackType(chain, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    assert chain is not None
    return chain


def _is_users(frame: TracebackType, item: pytest.Item) -> bool:
    """Whether a frame is the user's code; hooks only pass on what a test raises."""
    code = frame.tb_frame.f_code
    if code.co_name.startswith("pytest_"):
        return False
    file = code.co_filename
    return file in (str(item.path), *_BUILTIN) or (
        Path(file).is_absolute() and not file.startswith(_NOT_THE_USERS)
    )


def location_of(item: pytest.Item, error: BaseException) -> Location:
    """The line of the user that an error came from: of a fixture or a test, else the test."""
    for frame in reversed(list(_frames(error.__traceback__))):
        if _is_users(frame, item):
            return frame.tb_frame.f_code.co_filename, frame.tb_lineno
    path, line, _ = item.reportinfo()
    return os.fspath(path), (line or 0) + 1


def one_block(item: pytest.Item, when: str, error: AutodeployError, text: str) -> Any:
    """What pytest shows for an error outside a test's body: its text, and where, in any style.

    For failures ``--tb=line`` says itself where.
    """
    path, line = location_of(item, error)
    where = f"{os.path.relpath(path, item.config.invocation_params.dir)}:{line}"
    line_style = when == "call" and item.config.getoption("tbstyle", "auto") == "line"
    known = in_suite(item) or line_style
    shown = text if known else f"{text}\n\n{where}: {type(error).__name__}"
    try:
        pytest.fail(shown, pytrace=False)
    except pytest.fail.Exception:
        block = item.repr_failure(pytest.ExceptionInfo.from_current())
    relocate(item, block, error)
    if crash := getattr(block, "reprcrash", None):
        crash.message = text
    return block


def relocate(item: pytest.Item, longrepr: Any, error: BaseException) -> None:
    """Let the place of a crash in this package, as ``--tb=line`` shows it, be the user's code."""
    crash = getattr(longrepr, "reprcrash", None)
    if crash is not None and crash.path.startswith(_PACKAGE):
        crash.path, crash.lineno = location_of(item, error)
