"""What this PC has run out of is told as that, with what to do."""

from __future__ import annotations

import errno
import os

import pytest

from pytest_autodeploy.base.error_text import text_of
from pytest_autodeploy.base.errors import BoardDied
from pytest_autodeploy.base.exhausted import advice_on, exhausted


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        (errno.ENOSPC, "TMPDIR"),
        (errno.EDQUOT, "quota"),
        (errno.EMFILE, "ulimit -n"),
        (errno.ENFILE, "end other programs"),
        (errno.EFBIG, "ulimit -f"),
        (errno.ENOMEM, "memory"),
    ],
)
def test_it_names_what_where_and_what_to_do(code: int, hint: str) -> None:
    error = exhausted(OSError(code, os.strerror(code), "/full/x"))
    assert str(error).startswith(f"this PC: {os.strerror(code)}: /full/x\n")
    assert hint in str(error)
    assert hint in str(advice_on(f"OSError: [Errno {code}] {os.strerror(code)}"))


@pytest.mark.parametrize("error", [OSError(errno.ENOENT, "no"), ValueError("x"), BoardDied("x")])
def test_all_else_is_what_it_is(error: Exception) -> None:
    assert exhausted(error) is None


def test_what_was_raised_while_it_was_handled_is_it_too() -> None:
    def fails() -> None:
        try:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        except OSError:
            raise RuntimeError("cannot start") from None

    with pytest.raises(RuntimeError) as raised:
        fails()
    assert "Too many open files" in str(exhausted(raised.value))


def test_an_error_that_has_words_keeps_them() -> None:
    error = BoardDied("start: it died")
    error.__cause__ = OSError(errno.EMFILE, "x")
    assert exhausted(error) is None


def test_a_part_of_a_report_is_not_blamed_on_this_project() -> None:
    words = text_of(OSError(errno.ENOSPC, "x", "/full/r.html"), "the summary")
    assert words.startswith(
        "the summary could not be made: this PC: No space left on device: /full"
    )
    assert "fault of pytest-autodeploy" not in words


def test_other_words_have_no_advice() -> None:
    assert advice_on("Segmentation fault") is None
